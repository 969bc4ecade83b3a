/**
 * The scripts that shells load. Each passes the words up to the cursor to `conveyor __complete`, which prints one
 * candidate per line, `value<tab>description`, or `:files` if the shell should complete files itself.
 */
export const COMPLETION_SCRIPTS = {
  bash: `# Completion of conveyor for bash. In ~/.bashrc:  source <(conveyor completion bash)
_conveyor() {
  local line=\${COMP_LINE:0:COMP_POINT} current='' candidate breaks prefix=''
  local -a words lines
  read -ra words <<<"$line"
  if [[ $line == *[[:space:]] ]]; then words+=(''); fi
  current=\${words[\${#words[@]} - 1]}
  COMPREPLY=()
  while IFS= read -r candidate; do lines+=("$candidate"); done < <("\${words[0]/#\\~/$HOME}" __complete -- "\${words[@]:1}" 2>/dev/null)
  if [[ \${lines[0]-} == :files ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r candidate; do COMPREPLY+=("$candidate"); done < <(compgen -f -- "$current")
    return
  fi
  # Bash replaces only what follows the last of its word breaks, such as the colon of a version.
  breaks=\${COMP_WORDBREAKS//[^@:=]/}
  if [[ -n $breaks ]]; then prefix=\${current%"\${current##*[$breaks]}"}; fi
  for candidate in "\${lines[@]}"; do
    candidate=\${candidate%%$'\\t'*}
    if [[ $candidate == *= ]]; then compopt -o nospace 2>/dev/null; fi
    COMPREPLY+=("\${candidate#"$prefix"}")
  done
}
complete -F _conveyor conveyor
`,
  zsh: `#compdef conveyor
# Completion of conveyor for zsh. In ~/.zshrc, after compinit:  source <(conveyor completion zsh)
_conveyor() {
  local -a lines described
  local line value
  lines=("\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ \${lines[1]} == ':files' ]]; then _files; return; fi
  for line in "\${lines[@]}"; do
    if [[ -z $line ]]; then continue; fi
    value=\${line%%$'\\t'*}
    if [[ $value == *= ]]; then compadd -S '' -- "$value"; continue; fi
    described+=("\${value//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#described} )); then _describe -t conveyor conveyor described; fi
}
if typeset -f compdef >/dev/null; then compdef _conveyor conveyor; fi
`,
  fish: `# Completion of conveyor for fish. In ~/.config/fish/config.fish:  conveyor completion fish | source
function __conveyor_complete
    set -l words (commandline -opc)
    set -l lines ($words[1] __complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
    if test "$lines[1]" = :files
        __fish_complete_path (commandline -ct)
    else
        printf '%s\\n' $lines
    end
end
complete -c conveyor -f -a '(__conveyor_complete)'
`,
} as const;
