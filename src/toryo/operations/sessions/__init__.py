"""An agent's session: sign-in, the next action, work and reports, handoffs, guards."""
