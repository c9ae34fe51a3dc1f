#compdef nearwarp
# Completion of nearwarp's command line for zsh, which asks the program.
_nearwarp() {
  local word meaning files before
  local -i added=1
  local -a plain keys
  local -a plain_texts key_texts
  while IFS=$'\t' read -r word meaning; do
    if [[ $word == ":files" ]]; then
      files=yes before=$meaning
    elif [[ $word == *= ]]; then
      keys+=("$word") key_texts+=("$word  ${meaning[1,60]}")
    else
      plain+=("$word") plain_texts+=("$word  ${meaning[1,60]}")
    fi
  done < <("${words[1]}" completion -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2> /dev/null)
  (( ${#plain} )) && compadd -l -d plain_texts -a plain && added=0
  (( ${#keys} )) && compadd -l -S '' -d key_texts -a keys && added=0
  if [[ -n $files ]]; then
    [[ -n $before ]] && compset -P "${(b)before}"
    _files && added=0
  fi
  return added
}
if [[ ${funcstack[1]} == _nearwarp ]]; then
  _nearwarp "$@"
else
  compdef _nearwarp nearwarp
fi
