"""The formats of what people write as YAML: plans of agents without a model, and what all such documents share.

A plan is judged here and nowhere else: `plan_options.py` for code that gets an agent's options, `playbook_format` and
`script_format` for code that follows one. Agents import `templates` and `patterns` and start often: nothing is imported
here.
"""
