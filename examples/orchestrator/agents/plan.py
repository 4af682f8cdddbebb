"""The planning agent: reads a task as JSON from stdin, prints an execution plan as JSON.

In a real team, a model would make the plan.
"""

import json
import sys

STEPS = [
    # name, description, agent type, dependencies, file
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
            "description": description,
            "agent_type": agent_type,
            "dependencies": dependencies,
            "context": {"request": task["correlation_id"], "files": [file] if file else files},
        }
        for name, description, agent_type, dependencies, file in STEPS
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
