/**
 * The completion scripts. Each passes the typed words to `holdfast complete` as they are, never through eval:
 * a Tab must not run what somebody has typed. After `--` the command is completed like a line of its own.
 */
export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export function completionScript(shell: Shell): string {
  return SCRIPTS[shell];
}

/**
 * Needs nothing of bash-completion, and no bash later than 3.2, which has no compopt. Names have colons and at
 * signs, where bash begins another word ($2): a candidate is what replaces that word. Bash quotes no candidate of
 * a function, so the commands found in PATH are quoted here; `holdfast complete` offers only names that need none.
 */
const BASH = `# bash completion for holdfast
_holdfast() {
  local -a words
  local current line typed before
  read -ra words <<< "\${COMP_LINE:0:COMP_POINT}"
  [[ \${COMP_LINE:COMP_POINT-1:1} == " " ]] && words+=("")
  current=\${words[\${#words[@]}-1]}
  COMPREPLY=()
  for ((before = 1; before < \${#words[@]} - 1; before++)); do
    [[ \${words[before]} == -- ]] || continue
    if ((before == \${#words[@]} - 2)); then
      while IFS= read -r line; do
        printf -v line %q "$line"
        COMPREPLY+=("$line")
      done < <(compgen -c -- "$current" | sort -u)
    fi
    ((\${#COMPREPLY[@]})) || compopt -o default 2> /dev/null
    return
  done
  typed=\${current%"$2"}
  while IFS= read -r line; do
    line=\${line%%$'\\t'*}
    COMPREPLY+=("\${line#"$typed"}")
  done < <(holdfast complete -- "\${words[@]:1}" 2> /dev/null)
}
complete -F _holdfast holdfast
`;

const ZSH = `#compdef holdfast
# zsh completion for holdfast
_holdfast() {
  local -i at=\${words[(i)--]}
  if (( at < CURRENT )); then
    words=("\${(@)words[at+1,-1]}")
    (( CURRENT -= at ))
    _normal
    return
  fi
  local -a found
  local line
  for line in "\${(@f)$(holdfast complete -- "\${(@Q)words[2,CURRENT]}" 2> /dev/null)}"; do
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe 'holdfast' found
}
if [[ $funcstack[1] == _holdfast ]]; then
  _holdfast "$@"
else
  compdef _holdfast holdfast
fi
`;

const FISH = `# fish completion for holdfast
function __holdfast_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    if set -l at (contains -i -- -- $words)
        complete -C (string join ' ' -- $words[(math $at + 1)..-1] $current)
    else
        holdfast complete -- $words[2..-1] "$current" 2> /dev/null
    end
end
complete -c holdfast -e
complete -c holdfast -f -a '(__holdfast_complete)'
`;

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
