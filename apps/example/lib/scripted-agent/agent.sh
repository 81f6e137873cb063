# A command-line agent without a model and without a key. It reads what it is asked on standard input, works in the folder
# it is started in, and tells of it as it goes: AG-UI events, one JSON object a line. Any agent that prints its events can
# take its place. AGENT_PAUSE is how many seconds a word takes.
pause=${AGENT_PAUSE:-0.2}

# Text as the inside of a JSON string.
json() {
  printf '%s' "$1" | tr '\t' ' ' | tr -d '\001-\011\013-\037' | sed 's/\\/\\\\/g; s/"/\\"/g' |
    awk '{ printf "%s%s", newline, $0; newline = "\\n" }'
}

event() { printf '{"type":"%s",%s}\n' "$1" "$2"; }

say() {
  event TEXT_MESSAGE_START '"messageId":"answer","role":"assistant"'
  for word in $1; do
    event TEXT_MESSAGE_CONTENT "\"messageId\":\"answer\",\"delta\":\"$(json "$word") \""
    sleep "$pause"
  done
  event TEXT_MESSAGE_END '"messageId":"answer"'
}

# Runs a command and shows it as a call of a tool: its id, the command.
run() {
  event TOOL_CALL_START "\"toolCallId\":\"$1\",\"toolCallName\":\"bash\",\"parentMessageId\":\"answer\""
  event TOOL_CALL_ARGS "\"toolCallId\":\"$1\",\"delta\":\"$(json "{\"command\":\"$(json "$2")\"}")\""
  event TOOL_CALL_END "\"toolCallId\":\"$1\""
  output=$(sh -c "$2" 2>&1)
  result="{\"stdout\":\"$(json "$output")\",\"exitCode\":$?}"
  event TOOL_CALL_RESULT "\"messageId\":\"$1-result\",\"toolCallId\":\"$1\",\"role\":\"tool\",\"content\":\"$(json "$result")\""
  sleep "$pause"
}

set -f
REQUEST=$(cat)
export REQUEST
[ -n "$REQUEST" ] || { echo 'Write what you want after /agent.' >&2; exit 2; }

say "I am a program in your sandbox. The server only reads what I print, so I go on when it dies, and the next server reads
all of it again. I write your request down first."
run note 'printf "%s\n" "$REQUEST" >>notes.md'
say "Now I read the notes back, line by line, and count what is there."
run read 'cat -n notes.md'
run count 'wc -l <notes.md'
say "That is everything: your request is line $(($(wc -l <notes.md))) of notes.md, and each word of this was said once."
