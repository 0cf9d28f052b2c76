"""Writes chat_templates.json: templates that use what models' chat templates use, variables of
conversations, and the texts that transformers makes of them."""

import json
import sys
from pathlib import Path

from transformers.utils.chat_template_utils import _compile_jinja_template as compile_template

sys.path.insert(0, str(Path(__file__).parents[1] / "templates"))
from forms import FORMS, conversations  # noqa: E402

templates = FORMS | {
    "marks": "{% for m in messages %}{{ '[' + m['role'] + ']\\n' + m['content'] + '[end]' + '\\n' }}"
             "{% endfor %}{% if add_generation_prompt %}{{ '[assistant]\\n' }}{% endif %}",
    "default_system": """{%- if messages[0].role == 'system' %}
    {{- '[system]' + messages[0].content | trim + "[end]\\n" }}
{%- else %}
    {{- '[system]Weave.[end]\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first)
           or (message.role == "assistant" and not message.tool_calls) %}
        {{- '[' ~ message.role ~ ']' + message.content + '[end]' + '\\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}
            {{- '[tool]' }}
        {%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '[assistant]' }}
{%- endif %}
""",
    "set_in_loop": "{% set all = messages %}{% for m in all %}{% set text = '<' + m['role'] + '>\\n\\n'"
                   " + m['content'] | trim + '</>' %}{% if loop.index0 == 0 %}"
                   "{% set text = bos_token + text %}{% endif %}{{ text }}{% endfor %}",
    "lines": "{% for message in messages %}\n{% if message['role'] == 'user' %}\n"
             "{{ '|user|\\n' + message['content'] + eos_token }}\n"
             "{% elif message['role'] == 'system' %}\n{{ message['content'] }}\n{% else %}\n"
             "  {{ message.content }} \n{% endif %}\n"
             "{% if loop.last and add_generation_prompt %}\n{{ '|assistant|' }}\n{% endif %}\n"
             "{% endfor %}",
    "alternating": "{%- if messages[0]['role'] == 'system' -%}{%- set first = messages[0]['content'] -%}"
                   "{%- set rest = messages[1:] -%}{%- else -%}{%- set rest = messages -%}{%- endif -%}"
                   "{{ bos_token }}{%- for m in rest -%}"
                   "{%- if (m['role'] == 'user') != (loop.index0 % 2 == 0) -%}"
                   "{{ raise_exception('Roles must alternate') }}{%- endif -%}"
                   "{%- if m['role'] == 'user' -%}{%- if loop.first and first is defined -%}"
                   "{{ ' Q: ' + first + '\\n' + m['content'] }}{%- else -%}{{ ' Q: ' + m.content }}"
                   "{%- endif -%}{%- else -%}{{ ' A: ' + m.content.strip() + eos_token }}"
                   "{%- endif -%}{%- endfor -%}",
    "namespace": """{%- set ns = namespace(last=messages|length - 1, found=false) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if not ns.found and message.role == "user" and message.content is string and not(
          message.content.startswith('{') and message.content.endswith('}')) %}
        {%- set ns.found = true %}
        {%- set ns.last = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- set content = message.content if message.content is string else '' %}
    {%- set thought = '' %}
    {%- if message.reasoning is string %}
        {%- set thought = message.reasoning %}
    {%- elif '</t>' in content %}
        {%- set thought = content.split('</t>')[0].rstrip('\\n').split('<t>')[-1].lstrip('\\n') %}
        {%- set content = content.split('</t>')[-1].lstrip('\\n') %}
    {%- endif %}
    {%- if loop.index0 > ns.last and (loop.last or (not loop.last and thought)) %}
        {{- message.role + ': (' + thought.strip('\\n') + ') ' + content }}
    {%- else %}
        {{- message.role + ': ' + content }}
    {%- endif %}
    {{- '\\n' }}
{%- endfor %}
""",
    "undefined": """{%- if not date is defined %}
    {%- set date = "today" %}
{%- endif %}
{%- if tools is defined and tools is not none %}tools{% endif %}

{#- A comment. #}
{{- date + "\\n" }}
{%- for message in messages %}
    {%- if not (message.role == 'tool' or 'tool_calls' in message) %}
        {{- message['role'] + message['content'] | trim }}
    {%- elif not message.tool_calls|length == 1 %}
        {{- raise_exception("One call at most") }}
    {%- endif %}
{%- endfor %}
""",
    "operators": """  {# comment #}
  {% for key, value in {'a': 1, "b": 2.5}.items() %}
    {{ key }}={{ value }} {{ loop.last }} {{ loop.index }}
  {% endfor %}
{% set x %}block {{ 1 + 2 * 3 - 7 % 4 }}{% endset %}
  text {{ x | upper }} {{ 'a' ~ 1 ~ true }} {{ [1, 2] + [3] | list }} {{ 'a,b' | replace(',', ';') }}
{{ messages | tojson }}
{{ (messages | first).role }} {{ messages[-1]['content'][:1] }} {{ 3 in [1, 2, 3] }} {{ -2 * 3 }}
{{ 'z' not in 'abc' }} {{ none }} {{ 7 % 3 }} {{ 1 if false else 2 }} {{ undefined_name }}
{{ undefined_name | default('d') }} {{ 1 if false }} {{ 3 > 2 and 2 >= 2 or 1 < 0 }} {{ 7 * 0.5 }}
{%- for m in messages if m.role == 'user' %}[{{ loop.index0 }}{{ m.content }}]{% endfor -%}
   end {%+ if true %}kept{% endif %}

{% generation %}g{% endgeneration %}
{{ range(3) | join('-') }} {{ ('a' 'b') if false else "it's \\"quoted\\"" }} {{ 'x\\ty' }}
""".replace("('a' 'b')", "('ab')"),
}
plain = [
    [("user", "Hi")],
    [("system", "Be brief. "), ("user", " Hi\n"), ("assistant", "Hello!"), ("user", "Bye {{x}}")],
    [("user", "a"), ("assistant", "<t>\nhm\n</t>\n\nb"), ("user", "c"), ("assistant", "d")],
    [("user", "a"), ("user", "{b}")],
    [("system", "s"), ("user", 'ünï "q" <b>')],
]
variables = [{"messages": [{"role": role, "content": content} for role, content in conversation],
              "tools": None, "documents": None, "add_generation_prompt": is_answered_next,
              "bos_token": "<s>", "eos_token": "</s>"}
             for conversation in plain for is_answered_next in (False, True)] + list(conversations())
cases = []
for name, template in templates.items():
    for index, one in enumerate(variables):
        try:
            text = compile_template(template).render(**one)
        except Exception:  # of raise_exception, and what has no meaning
            text = None
        cases.append({"template": name, "variables": index, "text": text})
content = {"templates": templates, "variables": variables, "cases": cases}
Path(__file__).with_name("chat_templates.json").write_text(
    json.dumps(content, ensure_ascii=False, indent=1))
