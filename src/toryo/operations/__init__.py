"""The operations that callers can request, one package per subject. Every call goes through `calls/dispatch.py`.

`calls/groups.py` lists the modules that declare operations; AGENTS.md says what each package is for.
"""
