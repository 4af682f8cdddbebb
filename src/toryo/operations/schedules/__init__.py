"""Tasks that are created at certain times: schedules, when they are due, and what people do about them."""
