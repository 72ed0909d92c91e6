# SPDX-License-Identifier: MIT
# The model's side of a conversation. It stores nothing between requests: an agent sends the whole conversation each time, and it
# contains the script of the task. A prompt has lines `@run COMMAND`, or `@call TOOL ARGUMENTS` for another tool, whose name ends with
# TOOL. The model requests one command after the other, each when it has the result of the previous one, and at the end it prints the
# results. A later prompt with such lines is a new task.
import json
import re
import uuid

# The tool that runs a command, by the agent's name for it, and its arguments.
TOOLS = {
    "Bash": lambda command: {"command": command, "description": "one step of the task"},
    "bash": lambda command: {"command": command, "description": "one step of the task"},
    "run_shell_command": lambda command: {"command": command, "description": "one step of the task"},
    "exec_command": lambda command: {"cmd": command},
    "shell_command": lambda command: {"command": command},
    "shell": lambda command: {"command": ["bash", "-c", command]},
    # It takes a JavaScript program that calls the tool, and no arguments.
    "exec": lambda command: f"text(await tools.exec_command({json.dumps({'cmd': command})}))",
}


class Conversation:
    def __init__(self):
        self.tool = None
        self.names = []
        self.commands = []
        self.results = []
        self.tasks = 0

    def offer(self, names):
        names = [name for name in names if name]
        self.names += names
        self.tool = next((name for name in TOOLS if name in names), self.tool)

    def user(self, text):
        commands = re.findall(r"^@(run|call) (.*)$", text or "", re.MULTILINE)
        if commands:
            self.commands = [(kind, command.strip()) for kind, command in commands]
            self.results = []
            self.tasks += 1

    def result(self, text):
        self.results.append(text if isinstance(text, str) else json.dumps(text, ensure_ascii=False))

    # The arguments of the next call, or None where no command is left. Agents also request titles and summaries: then they offer no
    # tool.
    def call(self):
        if self.tool is None or len(self.results) >= len(self.commands):
            return None
        kind, command = self.commands[len(self.results)]
        if kind == "run":
            return TOOLS[self.tool](command)
        wanted, _, arguments = command.partition(" ")
        self.tool = next((name for name in self.names if name.endswith(wanted)), wanted)
        return json.loads(arguments)

    def final(self):
        if self.tool is None:
            return "A task"
        lines = [f"This was task {self.tasks}."]
        lines += [f"[{number}] {text}" for number, text in enumerate(self.results, 1)]
        return "\n".join(lines)


# Agents treat two messages with one name as parts of the same message, also when they read an old conversation.
def new_name():
    return uuid.uuid4().hex


# The text of a content field, which is a string or a list of parts.
def text_of(content):
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [] if isinstance(part, dict))
