# Completes LINE in a zsh of its own on a terminal of its own, as a person would with the Tab key:
#   zsh -f complete-in-zsh.fixture.zsh SCRIPT OUT LINE
# OUT gets the words that are offered, a line each, and <end>.
zmodload zsh/zpty
script=$1 out=$2 line=$3
: > $out
zpty -b shell zsh -f -i
zpty -w shell "PS1=; autoload -Uz compinit; compinit -u -D; source $script
compadd() {
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd \"\$@\"; return; fi
  local -a hits
  builtin compadd -A hits \"\$@\"
  (( \$#hits )) && print -rl -- \$hits >> $out
  builtin compadd \"\$@\"
}
finish() { print -r -- '<end>' >> $out; }
comppostfuncs=(finish)
bindkey '^I' complete-word
print READY-NOW"
while zpty -r shell answer; do [[ $answer == *READY-NOW* && $answer != *print* ]] && break; done
zpty -n -w shell "$line"$'\t'
for _ in {1..400}; do
  [[ "$(<$out)" == *'<end>' ]] && break
  zmodload zsh/zselect && zselect -t 5
done
zpty -d shell
