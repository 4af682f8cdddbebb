"""How many processes a Coordinator runs at a time where nobody says how many: of real ones, and of those that are
simulated for forecasts and plans.
"""

from __future__ import annotations

USUAL_SLOTS = 3
