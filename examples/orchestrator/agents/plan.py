"""Plans: a task as JSON on stdin, an execution plan as JSON on stdout. Stands in for a model that plans."""

import json
import sys

STEPS = [
    # name, what, by whom, after, file
    ("subtask-001", "Write the User model", "implementation", [], "user.py"),
    ("subtask-002", "Implement /register", "implementation", ["subtask-001"], "register.py"),
    ("subtask-003", "Implement /login, which issues a JWT", "implementation", ["subtask-001"], "login.py"),
    ("subtask-004", "Test the authentication", "testing", ["subtask-002", "subtask-003"], None),
]

task = json.load(sys.stdin)
files = [file for *_, file in STEPS if file]
plan = {
    "plan_id": f"plan-{task['correlation_id']}",
    "tasks": [
        {
            "task_id": name,
            "description": what,
            "agent_type": agent_type,
            "dependencies": after,
            "context": {"request": task["correlation_id"], "files": [file] if file else files},
        }
        for name, what, agent_type, after, file in STEPS
    ],
}
json.dump(
    {
        "execution_plan": plan,
        "risk_assessment": "The signing key must not be in the repository.",
        "recommendations": "Hash passwords with bcrypt; limit the rate of logins.",
    },
    sys.stdout,
)
