# Completion of nearwarp's command line for bash, which asks the program.
_nearwarp() {
  local line=${COMP_LINE:0:COMP_POINT}
  local -a words
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  local whole=${words[-1]}
  # Bash replaces what stands behind the last of its word breaks alone.
  local own=${whole##*["$COMP_WORDBREAKS"]}
  local before=${whole%"$own"} word meaning
  COMPREPLY=()
  while IFS=$'\t' read -r word meaning; do
    if [[ $word == ":files" ]]; then
      compopt -o filenames
      mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$own")
    else
      COMPREPLY+=("${word#"$before"}")
      [[ $word == *= ]] && compopt -o nospace
    fi
  done < <("${words[0]}" completion -- "${words[@]:1}" 2> /dev/null)
}
complete -F _nearwarp nearwarp
