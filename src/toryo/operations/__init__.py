"""What a caller can ask for, one package per subject. `calls/dispatch.py` is the one path of every call.

`calls/groups.py` lists the modules that declare operations; AGENTS.md says what each package is for.
"""
