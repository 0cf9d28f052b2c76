"""Chat templates that do what those of known models do, in our own words, and conversations for them."""

FORMS = {
    # ChatML: one block a message.
    "chatml": "{% for message in messages %}{{ '<|start|>' + message['role'] + '\\n' + message['content'] + '<|stop|>' + '\\n' }}"
              "{% endfor %}{% if add_generation_prompt %}{{ '<|start|>assistant\\n' }}{% endif %}",
    # Zephyr: branches on lines of their own.
    "zephyr": """{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|u|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|s|>\\n' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|a|>\\n'  + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|a|>' }}
{% endif %}
{% endfor %}""",
    # Llama 3.1: dates, tools within the first question, calls as JSON.
    "llama": """{{- bos_token }}
{%- if custom_tools is defined %}{%- set tools = custom_tools %}{%- endif %}
{%- if not tools_first is defined %}{%- set tools_first = true %}{%- endif %}
{%- if not today is defined %}
    {%- if strftime_now is defined %}{%- set today = "1 Jan 1970" %}{%- else %}{%- set today = "unknown" %}{%- endif %}
{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{#- The system message goes first. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system = "" %}
{%- endif %}
{{- "<|head|>system<|/head|>\\n\\n" }}
{%- if builtin is defined or tools is not none %}{{- "Mode: calls\\n" }}{%- endif %}
{%- if builtin is defined %}
    {{- "Have: " + builtin | reject('equalto', 'code') | join(", ") + "\\n\\n" }}
{%- endif %}
{{- "Today: " + today + "\\n\\n" }}
{%- if tools is not none and not tools_first %}
    {%- for t in tools %}{{- t | tojson(indent=4) }}{{- "\\n\\n" }}{%- endfor %}
{%- endif %}
{{- system }}{{- "<|over|>" }}
{%- if tools_first and not tools is none %}
    {%- if messages | length != 0 %}
        {%- set first = messages[0]['content']|trim %}
        {%- set messages = messages[1:] %}
    {%- else %}
        {{- raise_exception("No question to put tools before") }}
    {%- endif %}
    {{- '<|head|>user<|/head|>\\n\\nCall one of these:\\n\\n' -}}
    {%- for t in tools %}{{- t | tojson(indent=4) }}{{- "\\n\\n" }}{%- endfor %}
    {{- first + "<|over|>" }}
{%- endif %}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|head|>' + message['role'] + '<|/head|>\\n\\n'+ message['content'] | trim + '<|over|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}{{- raise_exception("One call a message") }}{%- endif %}
        {%- set call = message.tool_calls[0].function %}
        {{- '<|head|>assistant<|/head|>\\n\\n' -}}
        {{- '{"name": "' + call.name + '", ' }}{{- '"parameters": ' }}{{- call.arguments | tojson }}{{- "}" }}
        {%- for name, value in call.arguments | items %} {{ name + '="' ~ value ~ '"' }}{%- if not loop.last %}{{ ", " }}{%- endif %}{%- endfor %}
        {{- "<|over|>" }}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {{- "<|head|>ipython<|/head|>\\n\\n" }}
        {%- if message.content is mapping or message.content is iterable %}{{- message.content | tojson }}{%- else %}{{- message.content }}{%- endif %}
        {{- "<|over|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|head|>assistant<|/head|>\\n\\n' }}{%- endif %}
""",
    # Qwen 2.5 and 3: tools in XML, thoughts of earlier answers omitted.
    "qwen": """{%- if tools %}
    {{- '<|start|>system\\n' }}
    {%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
    {{- "# Tools\\n\\n<tools>" }}
    {%- for tool in tools %}{{- "\\n" }}{{- tool | tojson }}{%- endfor %}
    {{- "\\n</tools><|stop|>\\n" }}
{%- else %}
    {%- if messages[0].role == 'system' %}{{- '<|start|>system\\n' + messages[0].content + '<|stop|>\\n' }}{%- endif %}
{%- endif %}
{%- set ns = namespace(multi_step=true, last=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step and message.role == "user" and message.content is string and not(message.content.startswith('<r>') and message.content.endswith('</r>')) %}
        {%- set ns.multi_step = false %}
        {%- set ns.last = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}{%- set content = message.content %}{%- else %}{%- set content = '' %}{%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|start|>' + message.role + '\\n' + content + '<|stop|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set thought = '' %}
        {%- if message.reasoning_content is string %}
            {%- set thought = message.reasoning_content %}
        {%- else %}
            {%- if '</think>' in content %}
                {%- set thought = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
                {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
            {%- endif %}
        {%- endif %}
        {%- if loop.index0 > ns.last %}
            {%- if loop.last or (not loop.last and thought) %}
                {{- '<|start|>' + message.role + '\\n<think>\\n' + thought.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
            {%- else %}{{- '<|start|>' + message.role + '\\n' + content }}{%- endif %}
        {%- else %}{{- '<|start|>' + message.role + '\\n' + content }}{%- endif %}
        {%- if message.tool_calls %}
            {%- for call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}{{- '\\n' }}{%- endif %}
                {%- if call.function %}{%- set call = call.function %}{%- endif %}
                {{- '<call>\\n{"name": "' }}{{- call.name }}{{- '", "arguments": ' }}
                {%- if call.arguments is string %}{{- call.arguments }}{%- else %}{{- call.arguments | tojson }}{%- endif %}
                {{- '}\\n</call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|stop|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}{{- '<|start|>user' }}{%- endif %}
        {{- '\\n<r>\\n' }}{{- content }}{{- '\\n</r>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}{{- '<|stop|>\\n' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}
{%- endif %}""",
    # Mistral: roles alternate, tools before the last question, identifiers of calls.
    "mistral": """{%- if messages[0]["role"] == "system" %}
    {%- set system = messages[0]["content"] %}
    {%- set turns = messages[1:] %}
{%- else %}
    {%- set turns = messages %}
{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- set questions = turns | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace(index=0) %}
{%- for message in turns %}
    {%- if not (message.role == "tool" or message.role == "tool_results" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("Roles must alternate, got " ~ message["role"]) }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in turns %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == questions[-1]) %}
            {{- "[T] [" }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.items() if key != "return" %}
                    {%- if val is string %}{{- '"' + key + '": "' + val + '"' }}{%- else %}{{- '"' + key + '": ' + val|tojson }}{%- endif %}
                    {%- if not loop.last %}{{- ", " }}{%- endif %}
                {%- endfor %}
                {{- "}}" }}
                {%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" }}{%- endif %}
            {%- endfor %}
            {{- "[/T]" }}
        {%- endif %}
        {%- if loop.last and system is defined %}{{- "[Q] " + system + "\\n\\n" + message["content"] + "[/Q]" }}
        {%- else %}{{- "[Q] " + message["content"] + "[/Q]" }}{%- endif %}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- "[C] [" }}
        {%- for call in message.tool_calls %}
            {%- set out = call.function|tojson %}
            {{- out[:-1] }}
            {%- if not call.id is defined or call.id|length != 9 %}{{- ', "id": "' + (call.id or 'none')[:9] + '"}' }}
            {%- else %}{{- ', "id": "' + call.id + '"}' }}{%- endif %}
            {%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" + eos_token }}{%- endif %}
        {%- endfor %}
    {%- elif message["role"] == "assistant" %}{{- " " + message["content"]|trim + eos_token}}
    {%- elif message["role"] == "tool_results" or message["role"] == "tool" %}
        {%- if message.content is defined and message.content.content is defined %}{%- set content = message.content.content %}
        {%- else %}{%- set content = message.content %}{%- endif %}
        {{- '[R] {"content": ' + content|string + ", " }}{{- '"id": "' + message.tool_call_id|default('-', true) + '"}[/R]' }}
    {%- else %}{{- raise_exception("Unknown role") }}{%- endif %}
{%- endfor %}
""",
    # DeepSeek V3.1: the rest of an answer after its thought, by a split with a count.
    "deepseek": "{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}"
                "{% if not thinking is defined %}{% set thinking = false %}{% endif %}"
                "{% set ns = namespace(is_first=false, is_tool=false, system='', is_first_sp=true, is_last_user=false) %}"
                "{%- for message in messages %}{%- if message['role'] == 'system' %}{%- if ns.is_first_sp %}"
                "{% set ns.system = ns.system + message['content'] %}{% set ns.is_first_sp = false %}{%- else %}"
                "{% set ns.system = ns.system + '\\n\\n' + message['content'] %}{%- endif %}{%- endif %}{%- endfor %}"
                "{{ bos_token }}{{ ns.system }}{%- for message in messages %}"
                "{%- if message['role'] == 'user' %}{%- set ns.is_tool = false -%}{%- set ns.is_first = false -%}{%- set ns.is_last_user = true -%}"
                "{{'<|U|>' + message['content']}}{%- endif %}"
                "{%- if message['role'] == 'assistant' and message['tool_calls'] is defined and message['tool_calls'] is not none %}"
                "{%- if ns.is_last_user %}{{'<|A|></think>'}}{%- endif %}{%- set ns.is_last_user = false -%}{%- set ns.is_first = false %}"
                "{%- for tool in message['tool_calls'] %}{%- if not ns.is_first %}{%- if message['content'] is none %}"
                "{{'<|C|>'+ tool['function']['name'] + '<|S|>' + tool['function']['arguments']|tojson + '<|/C|>'}}{%- else %}"
                "{{message['content'] + '<|C|>' + tool['function']['name'] + '<|S|>' + tool['function']['arguments']|tojson + '<|/C|>'}}{%- endif %}"
                "{%- set ns.is_first = true -%}{%- else %}{{'<|C|>'+ tool['function']['name'] + '<|S|>' + tool['function']['arguments']|tojson + '<|/C|>'}}"
                "{%- endif %}{%- endfor %}{{'<|E|>'}}{%- endif %}"
                "{%- if message['role'] == 'assistant' and (message['tool_calls'] is not defined or message['tool_calls'] is none) %}"
                "{%- if ns.is_last_user %}{{'<|A|>'}}{%- if message['prefix'] is defined and message['prefix'] and thinking %}{{'<think>'}}{%- else %}{{'</think>'}}{%- endif %}{%- endif %}"
                "{%- set ns.is_last_user = false -%}{%- if ns.is_tool %}{{message['content'] + '<|E|>'}}{%- set ns.is_tool = false -%}{%- else %}"
                "{%- set content = message['content'] -%}{%- if '</think>' in content %}{%- set content = content.split('</think>', 1)[1] -%}{%- endif %}"
                "{{content + '<|E|>'}}{%- endif %}{%- endif %}"
                "{%- if message['role'] == 'tool' %}{%- set ns.is_last_user = false -%}{%- set ns.is_tool = true -%}"
                "{{'<|R|>' + message['content'] + '<|/R|>'}}{%- endif %}{%- endfor -%}"
                "{%- if add_generation_prompt and ns.is_last_user and not ns.is_tool %}{{'<|A|>'}}{%- if not thinking %}{{'</think>'}}{%- else %}{{'<think>'}}{%- endif %}{% endif %}",
    # Gemma: contents that are texts or lists of parts.
    "gemma": """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}{%- set prefix = messages[0]['content'] + '\\n\\n' -%}
    {%- else -%}{%- set prefix = messages[0]['content'][0]['text'] + '\\n\\n' -%}{%- endif -%}
    {%- set rest = messages[1:] -%}
{%- else -%}
    {%- set prefix = "" -%}
    {%- set rest = messages -%}
{%- endif -%}
{%- for message in rest -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}{{ raise_exception("Roles must alternate") }}{%- endif -%}
    {%- if (message['role'] == 'assistant') -%}{%- set role = "model" -%}{%- else -%}{%- set role = message['role'] -%}{%- endif -%}
    {{ '<turn>' + role + '\\n' + (prefix if loop.first else "") }}
    {%- if message['content'] is string -%}{{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'image' -%}{{ '<image>' }}{%- elif item['type'] == 'text' -%}{{ item['text'] | trim }}{%- endif -%}
        {%- endfor -%}
    {%- else -%}{{ raise_exception("Invalid content") }}{%- endif -%}
    {{ '</turn>\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{'<turn>model\\n'}}{%- endif -%}
""",
    # Phi: tools beside the system message.
    "phi": "{% for message in messages %}{% if message['role'] == 'system' and 'tools' in message and message['tools'] is not none %}"
           "{{ '<|' + message['role'] + '|>' + message['content'] + '<|tool|>' + message['tools'] + '<|/tool|>' + '<|end|>' }}{% else %}"
           "{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}{% endif %}{% endfor %}"
           "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% else %}{{ eos_token }}{% endif %}",
    # Command R: macros that call each other, documents, types of parameters.
    "command": """{%- macro json_type(param) -%}
  {%- set types = {"string": "str", "number": "float", "integer": "int", "boolean": "bool"} -%}
  {%- if param.type is string and param.type in types -%}{{- types[param.type] -}}
  {%- elif param.type == "array" -%}{{- "List[" + json_type(param['items']) + "]" -}}
  {%- elif param.type is iterable and param.type is not string and param.type|length > 0 -%}
    {%- if param.type|length > 1 -%}{{- "Union[" + param.type|join(",") + "]" -}}{%- else -%}{{- param.type[0] -}}{%- endif -%}
  {%- else -%}{{- "Any" -}}{%- endif -%}
{%- endmacro -%}
{%- macro signature(name, parameters={}, indent=4, returns='List[Dict]') -%}
def {{ name }}(
{%- for key, param in (parameters.properties or {}).items() -%}
  {%- if not loop.first %}, {% endif %}{{ key }}: {{ json_type(param) if key in (parameters.required or []) else 'Optional[' ~ json_type(param) ~ '] = None' }}
{%- endfor %}) -> {{ returns }}:
{{ ' ' * indent }}\"\"\"{{ caller_note|default('no note') }}\"\"\"
{%- endmacro -%}
{{ bos_token }}
{%- if messages[0]['role'] == 'system' %}{% set turns = messages[1:] %}{% set system = messages[0]['content'] %}{% else %}{% set turns = messages %}{% set system = 'Help.' %}{% endif %}
{{ '<|S|>' + system }}
{% if tools %}
{% for tool in tools | sort(attribute='function.name') %}
```python
{{ signature(tool.function.name, tool.function.parameters, returns='Any') }}
```
{% endfor %}
{% endif %}
{% if documents %}{% for document in documents %}
Document: {{ loop.index0 }}
{% for key, value in document.items() %}{{ key|title }}: {{ value }}
{% endfor %}{% endfor %}{% endif %}
{%- for message in turns %}
{%- if message.role == 'user' and loop.previtem and loop.previtem.role == 'user' %}{{ '<|again|>' }}{% endif %}
{{- '<|' ~ message.role|upper ~ '|>' ~ (message.content or '')|trim }}
{%- if message.tool_calls %}{{ message.tool_calls | map(attribute='function') | list | tojson }}{% endif %}
{%- if loop.nextitem is defined and loop.nextitem.role == 'tool' %}{% continue %}{% endif %}
{{- '<|E|>' }}
{%- endfor %}
{{- '<|CHATBOT|>' if add_generation_prompt }}
""",
    # Granite and SmolLM: a generation tag, a namespace found by a loop with break.
    "marked": """{%- set found = namespace(system=none) %}
{%- for message in messages %}{% if message.role == 'system' %}{% set found.system = message.content %}{% break %}{% endif %}{% endfor %}
{%- if found.system %}{{ '<|s|>' ~ found.system.replace('\\n', ' ', 1) ~ '<|e|>' }}{% endif %}
{%- for message in messages|rejectattr('role', 'equalto', 'system') %}
{{- '\\n<|' + message.role + '|>\\n' }}
{%- if message.role == 'assistant' %}{% generation %}{{ message.content }}<|e|>{% endgeneration %}
{%- else %}{{ message.content if message.content is string else message.content|map(attribute='text')|join('\\n') }}<|e|>{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '\\n<|assistant|>\\n' }}{% endif %}""",
}

TOOLS = [
    {"type": "function", "function": {"name": "weather", "description": "The weather", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"},
                                         "units": {"type": ["string", "null"]}, "tags": {"type": "array", "items": {"type": "string"}}},
        "required": ["city"]}}},
    {"type": "function", "function": {"name": "add", "description": "Adds \"numbers\" <é>", "parameters": {"type": "object", "properties": {}}}},
]


def conversations():
    """The variables of renderings."""
    call = {"id": "abcdefghi", "type": "function", "function": {"name": "weather", "arguments": {"city": "Köln", "days": 2, "exact": True, "none": None}}}
    messages = [
        [("user", "Hi")],
        [("system", " Be brief.\n"), ("user", " Hello\u00a0\n"), ("assistant", "Hello! "), ("user", "Bye {{ x }}")],
        [("user", "a"), ("assistant", "<think>\nhm </think>x\n</think>\n\nb"), ("user", "c"), ("assistant", "d")],
        [("user", "a"), ("user", "{b}")],
        [("system", "s"), ("user", 'ünï "q" <b>'), ("assistant", "e\u0301 \u3000")],
    ]
    conversations_ = [[{"role": role, "content": content} for role, content in one] for one in messages]
    conversations_.append([{"role": "user", "content": "How is it?"}, {"role": "assistant", "content": "", "tool_calls": [call]},
                           {"role": "tool", "content": "rain", "tool_call_id": "abcdefghi"}, {"role": "assistant", "content": "Wet."}])
    conversations_.append([{"role": "user", "content": [{"type": "text", "text": " What is it? "}, {"type": "image"}]}])
    for one in conversations_:
        for add_generation_prompt in (False, True):
            for tools in (None, TOOLS):
                variables = {"messages": one, "tools": tools, "documents": None,
                             "add_generation_prompt": add_generation_prompt, "bos_token": "<s>", "eos_token": "</s>"}
                yield variables
    yield {"messages": conversations_[0], "tools": TOOLS, "documents": [{"title": "t", "text": "x y"}],
           "add_generation_prompt": True, "bos_token": "<s>", "eos_token": "</s>"}
