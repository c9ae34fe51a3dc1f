#compdef nearwarp
# Completion of nearwarp's command line for zsh, which asks the program.
_nearwarp() {
  local word meaning
  local -a plain keys files
  local -a plain_texts key_texts
  while IFS=$'\t' read -r word meaning; do
    if [[ $word == ":files" ]]; then
      files=(yes)
    elif [[ $word == *= ]]; then
      keys+=("$word") key_texts+=("$word  ${meaning[1,60]}")
    else
      plain+=("$word") plain_texts+=("$word  ${meaning[1,60]}")
    fi
  done < <("${words[1]}" completion -- "${(@)words[2,CURRENT]}" 2> /dev/null)
  (( ${#plain} )) && compadd -l -d plain_texts -a plain
  (( ${#keys} )) && compadd -l -S '' -d key_texts -a keys
  (( ${#files} )) && _files
  return 0
}
if [[ ${funcstack[1]} == _nearwarp ]]; then
  _nearwarp "$@"
else
  compdef _nearwarp nearwarp
fi
