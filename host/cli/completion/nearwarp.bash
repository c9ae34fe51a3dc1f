# Completion of nearwarp's command line for bash, which asks the program.

# The words of a text as bash reads them, without quotes, into `words`.
_nearwarp_words() {
  local text=$1 word= quote= begun= c
  local -i i
  words=()
  for ((i = 0; i < ${#text}; ++i)); do
    c=${text:i:1}
    if [[ $quote != "'" && $c == \\ ]]; then
      i+=1
      word+=${text:i:1} begun=1
    elif [[ -n $quote ]]; then
      if [[ $c == "$quote" ]]; then quote=; else word+=$c; fi
    elif [[ $c == [\"\'] ]]; then
      quote=$c begun=1
    elif [[ $c == [[:space:]] ]]; then
      [[ -n $begun ]] && words+=("$word")
      word= begun=
    else
      word+=$c begun=1
    fi
  done
  words+=("$word")
}

_nearwarp() {
  local -a words files
  _nearwarp_words "${COMP_LINE:0:COMP_POINT}"
  local whole=${words[-1]}
  # Bash replaces what stands behind the last of its word breaks alone.
  local breaks=${COMP_WORDBREAKS//[^=:@]/} own=$whole before word meaning file
  [[ -n $breaks ]] && own=${whole##*["$breaks"]}
  before=${whole%"$own"}
  COMPREPLY=()
  while IFS=$'\t' read -r word meaning; do
    if [[ $word == ":files" ]]; then
      compopt -o filenames
      mapfile -t files < <(compgen -f -- "${whole#"$meaning"}")
      for file in "${files[@]}"; do
        # A folder that stands behind something is not seen to be one.
        [[ $meaning == *, && -d $file ]] && file+=/ && compopt -o nospace
        file=$meaning$file
        COMPREPLY+=("${file#"$before"}")
      done
    else
      COMPREPLY+=("${word#"$before"}")
      [[ $word == *= ]] && compopt -o nospace
    fi
  done < <("${words[0]}" completion -- "${words[@]:1}" 2> /dev/null)
}
complete -F _nearwarp nearwarp
