/**
 * The completion scripts. Each asks `holdfast complete` with the words as they stand, never through eval:
 * what somebody has typed must not run because of a Tab. After `--` the command is completed as if it
 * stood alone.
 */
export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export function completionScript(shell: Shell): string {
  return SCRIPTS[shell];
}

/** Needs nothing of bash-completion, and no bash later than 3.2, which has no compopt. Bash takes a colon for the end of a word; names have colons. */
const BASH = `# bash completion for holdfast
_holdfast() {
  local -a words
  local current line before colons=""
  read -ra words <<< "\${COMP_LINE:0:COMP_POINT}"
  [[ \${COMP_LINE:COMP_POINT-1:1} == " " ]] && words+=("")
  current=\${words[\${#words[@]}-1]}
  COMPREPLY=()
  for ((before = 1; before < \${#words[@]} - 1; before++)); do
    [[ \${words[before]} == -- ]] || continue
    if ((before == \${#words[@]} - 2)); then
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -c -- "$current" | sort -u)
    fi
    ((\${#COMPREPLY[@]})) || compopt -o default 2> /dev/null
    return
  done
  [[ $COMP_WORDBREAKS == *:* && $current == *:* ]] && colons=\${current%:*}:
  while IFS= read -r line; do
    line=\${line%%$'\\t'*}
    COMPREPLY+=("\${line#"$colons"}")
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
