"""The YAML formats that people write: plans of agents without a model, and what all such documents share.

Plans are validated only here: `plan_options.py` serves code that reads an agent's options, `playbook_format` and
`script_format` code that follows a plan. Agents import `templates` and `patterns` and start often, so this file imports
nothing.
"""
