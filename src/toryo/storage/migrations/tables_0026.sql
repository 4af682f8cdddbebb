-- The tables and indexes of version 26, the first that people may rely on. Frozen: it is never changed.
-- The databases differ in {number} (of the events, counted by the database) and {bytes}: step_0026_first_tables.py.

CREATE TABLE agents (
    id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, role TEXT NOT NULL,
    reports_to TEXT REFERENCES agents (id), status TEXT NOT NULL, provider TEXT, model TEXT, agent_type TEXT,
    capabilities TEXT NOT NULL, max_parallel_tasks BIGINT NOT NULL, system_prompt TEXT NOT NULL,
    provider_options TEXT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, version BIGINT NOT NULL,
    deactivated_at BIGINT, passkey_hash TEXT
);
CREATE INDEX agents_reports_to ON agents (reports_to);

CREATE TABLE access_tokens (
    id TEXT NOT NULL PRIMARY KEY, agent_id TEXT NOT NULL REFERENCES agents (id), name TEXT NOT NULL,
    at_most TEXT NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT, used_on BIGINT, revoked_at BIGINT,
    token_hash TEXT NOT NULL UNIQUE, made_by TEXT, made_with TEXT
);
CREATE INDEX access_tokens_person ON access_tokens (agent_id, created_at);

CREATE TABLE accounts (id TEXT NOT NULL PRIMARY KEY, until BIGINT NOT NULL, reason TEXT NOT NULL);

CREATE TABLE projects (
    id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, description TEXT NOT NULL, status TEXT NOT NULL,
    working_directory TEXT NOT NULL, settings TEXT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
    paused_at BIGINT, version BIGINT NOT NULL
);

CREATE TABLE api_keys (
    id TEXT NOT NULL PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects (id), name TEXT NOT NULL,
    agent_id TEXT, types TEXT, orchestrator BOOLEAN NOT NULL, tools TEXT, created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL, revoked_at BIGINT, key_hash TEXT NOT NULL UNIQUE
);
CREATE INDEX api_keys_project ON api_keys (project_id, created_at);

CREATE TABLE tasks (
    id TEXT NOT NULL PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects (id), root_id TEXT NOT NULL,
    parent_id TEXT REFERENCES tasks (id), depth INTEGER NOT NULL, ordinal INTEGER NOT NULL, title TEXT NOT NULL,
    status TEXT NOT NULL, priority INTEGER NOT NULL, assignee_id TEXT REFERENCES agents (id), agent_type TEXT,
    created_by TEXT NOT NULL, approval TEXT NOT NULL, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,
    moved_at BIGINT NOT NULL, approved_by TEXT, requested_by TEXT, attempt BIGINT NOT NULL,
    parent_attempt BIGINT NOT NULL, children_ever BIGINT NOT NULL, worked_attempt BIGINT NOT NULL, blocked_by TEXT,
    blocked_by_person BOOLEAN NOT NULL, blocked_by_guard BOOLEAN NOT NULL, blocked_reason TEXT, blocked_cause TEXT,
    blocked_from TEXT, blocked_on TEXT, wait TEXT, look_event BIGINT, look_dispatchable TEXT, left_at BIGINT,
    left_event BIGINT, unreported_ends BIGINT NOT NULL, idle_launches BIGINT NOT NULL,
    has_acceptance BOOLEAN NOT NULL, checks TEXT NOT NULL, checked_at BIGINT, check_id TEXT, moved_session TEXT,
    moved_from TEXT, correlation_id TEXT, started_at BIGINT, completed_at BIGINT, stalled_event BIGINT,
    version BIGINT NOT NULL, description TEXT NOT NULL, context TEXT, acceptance TEXT, result TEXT, summary TEXT,
    error TEXT, next_steps TEXT, artifacts TEXT, check_failures TEXT, not_before BIGINT, timeout_seconds BIGINT,
    max_attempts BIGINT, questions_ever BIGINT NOT NULL DEFAULT 0, open_questions BIGINT NOT NULL DEFAULT 0,
    review_of TEXT, touches TEXT
);
CREATE INDEX tasks_assignee ON tasks (project_id, assignee_id, priority, created_at) WHERE assignee_id IS NOT NULL;
CREATE INDEX tasks_backlog ON tasks (project_id, priority, created_at) WHERE status = 'backlog';
CREATE INDEX tasks_blocked ON tasks (project_id, assignee_id) WHERE status = 'blocked';
CREATE INDEX tasks_closed ON tasks (project_id, status, completed_at) WHERE status IN ('completed', 'failed', 'cancelled');
CREATE INDEX tasks_correlation ON tasks (correlation_id) WHERE correlation_id IS NOT NULL;
CREATE INDEX tasks_dead ON tasks (project_id, completed_at) WHERE status = 'failed' AND agent_type IS NOT NULL;
CREATE INDEX tasks_failed ON tasks (completed_at) WHERE status = 'failed';
CREATE INDEX tasks_in_progress ON tasks (project_id, assignee_id) WHERE status = 'in_progress';
CREATE INDEX tasks_not_done ON tasks (project_id, status, priority, created_at) WHERE status IN ('failed', 'cancelled');
CREATE INDEX tasks_parent ON tasks (parent_id);
CREATE INDEX tasks_project ON tasks (project_id, priority, created_at);
CREATE INDEX tasks_queued ON tasks (project_id, agent_type, priority, created_at) WHERE status = 'todo' AND agent_type IS NOT NULL;
CREATE INDEX tasks_requested ON tasks (project_id, requested_by, created_at) WHERE requested_by IS NOT NULL;
CREATE INDEX tasks_reviews ON tasks (review_of) WHERE review_of IS NOT NULL;
CREATE INDEX tasks_root ON tasks (root_id);
CREATE INDEX tasks_todo ON tasks (project_id, priority, created_at) WHERE status = 'todo' AND agent_type IS NULL;
CREATE INDEX tasks_unapproved ON tasks (project_id) WHERE approval = 'pending_approval' AND status NOT IN ('completed', 'failed', 'cancelled');

CREATE TABLE launches (
    id TEXT NOT NULL PRIMARY KEY, agent_id TEXT NOT NULL REFERENCES agents (id),
    project_id TEXT NOT NULL REFERENCES projects (id), purpose TEXT NOT NULL, task_id TEXT REFERENCES tasks (id),
    reason TEXT NOT NULL, fence BIGINT NOT NULL, state TEXT NOT NULL, provider TEXT, model TEXT, coordinator_id TEXT,
    ordered_at BIGINT NOT NULL, deadline BIGINT NOT NULL, signed_in_at BIGINT, ended_at BIGINT, end_reason TEXT,
    told_to_leave BOOLEAN NOT NULL, refused_at_sign_in BOOLEAN NOT NULL, exit_code BIGINT, exit_signal BIGINT,
    exit_error TEXT, exit_reported_at BIGINT, stop_reason TEXT, stop_since BIGINT, by_passkey BOOLEAN NOT NULL,
    seen_at BIGINT, credential_hash TEXT NOT NULL UNIQUE, usage TEXT, log_tail TEXT,
    takes_slot BOOLEAN NOT NULL DEFAULT TRUE, nudged_at BIGINT, program_session TEXT, doing TEXT, doing_at BIGINT,
    account TEXT, UNIQUE (agent_id, project_id, purpose, fence)
);
CREATE UNIQUE INDEX launches_live ON launches (agent_id, project_id, purpose) WHERE state IN ('ordered', 'signed_in');
CREATE INDEX launches_project ON launches (project_id, ordered_at);
CREATE INDEX launches_task ON launches (task_id);

CREATE TABLE checks (
    id TEXT NOT NULL PRIMARY KEY, task_id TEXT NOT NULL REFERENCES tasks (id),
    project_id TEXT NOT NULL REFERENCES projects (id), launch_id TEXT NOT NULL REFERENCES launches (id),
    coordinator_id TEXT, created_at BIGINT NOT NULL, taken_at BIGINT, finished_at BIGINT, failures TEXT, evidence TEXT
);
CREATE INDEX checks_launch ON checks (launch_id);
CREATE INDEX checks_task ON checks (task_id);
CREATE INDEX checks_waiting ON checks (created_at) WHERE finished_at IS NULL;

CREATE TABLE artifacts (
    id TEXT NOT NULL PRIMARY KEY, check_id TEXT NOT NULL REFERENCES checks (id),
    task_id TEXT NOT NULL REFERENCES tasks (id), place INTEGER NOT NULL, name TEXT NOT NULL, bytes BIGINT NOT NULL,
    media_type TEXT NOT NULL, created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX artifacts_name ON artifacts (check_id, place, name);
CREATE INDEX artifacts_task ON artifacts (task_id);

CREATE TABLE artifact_pieces (
    artifact_id TEXT NOT NULL REFERENCES artifacts (id), start BIGINT NOT NULL, content {bytes} NOT NULL,
    PRIMARY KEY (artifact_id, start)
);

CREATE TABLE batches (
    agent_id TEXT NOT NULL, scope TEXT NOT NULL, "key" TEXT NOT NULL, content TEXT NOT NULL, answer TEXT NOT NULL,
    created_at BIGINT NOT NULL, PRIMARY KEY (agent_id, scope, key)
);
CREATE INDEX batches_created ON batches (created_at);

CREATE TABLE claims (
    task_id TEXT NOT NULL REFERENCES tasks (id), attempt BIGINT NOT NULL,
    project_id TEXT NOT NULL REFERENCES projects (id), agent_id TEXT NOT NULL REFERENCES agents (id),
    claimed_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, lease BIGINT NOT NULL, launch_id TEXT, ended_at BIGINT,
    end_reason TEXT, outcome TEXT, PRIMARY KEY (task_id, attempt)
);
CREATE INDEX claims_expiry ON claims (project_id, expires_at) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX claims_live ON claims (task_id) WHERE ended_at IS NULL;
CREATE INDEX claims_of_agent ON claims (agent_id) WHERE ended_at IS NULL;

CREATE TABLE conversations (
    id TEXT NOT NULL PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects (id), low_id TEXT NOT NULL,
    high_id TEXT NOT NULL, initiator_id TEXT NOT NULL REFERENCES agents (id),
    partner_id TEXT NOT NULL REFERENCES agents (id), purpose TEXT NOT NULL, state TEXT NOT NULL,
    turns BIGINT NOT NULL, max_turns BIGINT NOT NULL, turn_of TEXT NOT NULL, delegation_id TEXT, task_id TEXT,
    created_at BIGINT NOT NULL, last_turn_at BIGINT NOT NULL, ended_at BIGINT, ended_by TEXT, reason TEXT,
    summary TEXT, told_initiator_at BIGINT, told_partner_at BIGINT, settled BOOLEAN NOT NULL
);
CREATE INDEX conversations_initiator ON conversations (project_id, initiator_id) WHERE NOT settled;
CREATE INDEX conversations_newest ON conversations (project_id, created_at);
CREATE UNIQUE INDEX conversations_open ON conversations (project_id, low_id, high_id) WHERE state IN ('pending', 'active');
CREATE INDEX conversations_pair ON conversations (project_id, low_id, high_id, created_at);
CREATE INDEX conversations_partner ON conversations (project_id, partner_id) WHERE NOT settled;
CREATE INDEX conversations_task ON conversations (task_id);

CREATE TABLE cooldowns (
    agent_id TEXT NOT NULL REFERENCES agents (id), purpose TEXT NOT NULL, until BIGINT NOT NULL, reason TEXT NOT NULL,
    failures BIGINT NOT NULL, message TEXT, program TEXT NOT NULL, PRIMARY KEY (agent_id, purpose, program)
);

CREATE TABLE coordinators (
    id TEXT NOT NULL PRIMARY KEY, providers TEXT NOT NULL, seen_at BIGINT NOT NULL, running BIGINT NOT NULL,
    machine TEXT, disk TEXT
);

CREATE TABLE decisions (
    agent_id TEXT NOT NULL, project_id TEXT NOT NULL, purpose TEXT NOT NULL, said TEXT NOT NULL,
    since BIGINT NOT NULL, PRIMARY KEY (agent_id, project_id, purpose)
);

CREATE TABLE delegations (
    id TEXT NOT NULL PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects (id),
    agent_id TEXT NOT NULL REFERENCES agents (id), task_id TEXT NOT NULL REFERENCES tasks (id), root_id TEXT NOT NULL,
    target_agent_id TEXT NOT NULL REFERENCES agents (id), purpose TEXT NOT NULL, context TEXT,
    await_result BOOLEAN NOT NULL, status TEXT NOT NULL, created_at BIGINT NOT NULL, attempt BIGINT NOT NULL,
    session_id TEXT, conversation_id TEXT, processed_at BIGINT, ended_at BIGINT, result TEXT
);
CREATE INDEX delegations_awaited ON delegations (root_id) WHERE status IN ('pending', 'processing');
CREATE INDEX delegations_open ON delegations (project_id, agent_id) WHERE status IN ('pending', 'processing');
CREATE INDEX delegations_task ON delegations (task_id, created_at);

CREATE TABLE departures (state_hash TEXT NOT NULL PRIMARY KEY, expires_at BIGINT NOT NULL);

CREATE TABLE dependencies (
    task_id TEXT NOT NULL REFERENCES tasks (id), depends_on TEXT NOT NULL REFERENCES tasks (id),
    root_id TEXT NOT NULL, PRIMARY KEY (task_id, depends_on)
);
CREATE INDEX dependencies_on ON dependencies (depends_on);
CREATE INDEX dependencies_root ON dependencies (root_id);

CREATE TABLE directory (id INTEGER NOT NULL PRIMARY KEY, stamp BIGINT NOT NULL);

CREATE TABLE events (
    sequence {number}, id TEXT NOT NULL, at BIGINT NOT NULL, actor_id TEXT NOT NULL, by_person BOOLEAN NOT NULL,
    kind TEXT NOT NULL, fact BOOLEAN NOT NULL, project_id TEXT, root_id TEXT, task_id TEXT, agent_id TEXT,
    session_id TEXT, launch_id TEXT, correlation_id TEXT, data TEXT NOT NULL
);
CREATE INDEX events_agent ON events (agent_id, sequence);
CREATE INDEX events_correlation ON events (correlation_id, sequence) WHERE correlation_id IS NOT NULL;
CREATE INDEX events_decided ON events (at) WHERE kind IN ('task.approved', 'task.rejected', 'task.unblocked', 'task.retried');
CREATE INDEX events_facts ON events (root_id, sequence) WHERE fact;
CREATE INDEX events_project ON events (project_id, sequence);
CREATE INDEX events_task ON events (task_id, sequence);

CREATE TABLE handoffs (
    id TEXT NOT NULL PRIMARY KEY, task_id TEXT NOT NULL REFERENCES tasks (id), from_agent_id TEXT NOT NULL,
    to_agent_id TEXT, summary TEXT NOT NULL, context TEXT, recommendations TEXT, created_at BIGINT NOT NULL,
    accepted_at BIGINT, accepted_by TEXT
);
CREATE INDEX handoffs_task ON handoffs (task_id, created_at);

CREATE TABLE logs (
    launch_id TEXT NOT NULL REFERENCES launches (id), start BIGINT NOT NULL, length BIGINT NOT NULL,
    text TEXT NOT NULL, at BIGINT, PRIMARY KEY (launch_id, start)
);

CREATE TABLE mailboxes (
    project_id TEXT NOT NULL REFERENCES projects (id), agent_id TEXT NOT NULL REFERENCES agents (id),
    cursor BIGINT NOT NULL, newest BIGINT NOT NULL, waiting_since BIGINT NOT NULL, handed_session TEXT,
    handed_from BIGINT NOT NULL, handed_endings TEXT, redelivered_to BIGINT NOT NULL, left_at BIGINT NOT NULL,
    active_at BIGINT NOT NULL, version BIGINT NOT NULL, PRIMARY KEY (project_id, agent_id)
);
CREATE INDEX mailboxes_waiting ON mailboxes (project_id) WHERE newest > cursor;

CREATE TABLE memberships (
    project_id TEXT NOT NULL REFERENCES projects (id), agent_id TEXT NOT NULL REFERENCES agents (id),
    created_at BIGINT NOT NULL, removed_at BIGINT, PRIMARY KEY (project_id, agent_id)
);
CREATE INDEX memberships_agent ON memberships (agent_id);

CREATE TABLE memories (
    id TEXT NOT NULL PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects (id), text TEXT NOT NULL,
    alike TEXT NOT NULL, author_id TEXT NOT NULL, task_id TEXT REFERENCES tasks (id), pinned BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL, edited_by TEXT, edited_at BIGINT
);
CREATE INDEX memories_alike ON memories (project_id, alike);
CREATE INDEX memories_project ON memories (project_id, created_at);
CREATE INDEX memories_task ON memories (task_id);

CREATE TABLE merge_queue_entries (
    id TEXT NOT NULL PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects (id),
    task_id TEXT NOT NULL REFERENCES tasks (id), coordinator_id TEXT NOT NULL, target TEXT NOT NULL,
    position BIGINT NOT NULL, state TEXT NOT NULL, added_by TEXT NOT NULL, added_at BIGINT NOT NULL, part TEXT,
    job_id TEXT, sent_back BIGINT NOT NULL, removal_by TEXT, trouble TEXT, retry_at BIGINT, base_commit TEXT,
    merged_commit TEXT, evidence TEXT, conflict TEXT, changes_task_id TEXT, ended_at BIGINT, ended_by TEXT,
    reason TEXT
);
CREATE INDEX merge_queue_entries_ended ON merge_queue_entries (project_id, ended_at);
CREATE UNIQUE INDEX merge_queue_entries_of_task ON merge_queue_entries (task_id) WHERE state IN ('queued', 'checking');
CREATE INDEX merge_queue_entries_returned ON merge_queue_entries (ended_at) WHERE state IN ('failed', 'conflict') AND changes_task_id IS NULL;
CREATE INDEX merge_queue_entries_task ON merge_queue_entries (task_id, added_at);
CREATE INDEX merge_queue_entries_waiting ON merge_queue_entries (project_id, position) WHERE state IN ('queued', 'checking');

CREATE TABLE merge_queues (
    project_id TEXT NOT NULL PRIMARY KEY REFERENCES projects (id), paused_at BIGINT, paused_by TEXT
);

CREATE TABLE messages (
    id TEXT NOT NULL PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects (id), sequence BIGINT NOT NULL,
    thread TEXT NOT NULL, from_agent_id TEXT NOT NULL, to_agent_id TEXT NOT NULL REFERENCES agents (id),
    kind TEXT NOT NULL, conversation_id TEXT, related_task_id TEXT, created_at BIGINT NOT NULL,
    watched BOOLEAN NOT NULL, used_for TEXT, content TEXT NOT NULL
);
CREATE INDEX messages_about ON messages (related_task_id, sequence) WHERE related_task_id IS NOT NULL;
CREATE INDEX messages_conversation ON messages (conversation_id, sequence);
CREATE INDEX messages_inbox ON messages (project_id, to_agent_id, kind, sequence);
CREATE INDEX messages_rate ON messages (project_id, from_agent_id, to_agent_id, sequence);
CREATE UNIQUE INDEX messages_sequence ON messages (project_id, sequence);
CREATE INDEX messages_thread ON messages (project_id, thread, sequence);
CREATE INDEX messages_watched ON messages (created_at, project_id, to_agent_id) WHERE watched;

CREATE TABLE notes (
    id TEXT NOT NULL PRIMARY KEY, task_id TEXT NOT NULL REFERENCES tasks (id), session_id TEXT,
    author_id TEXT NOT NULL, progress TEXT, findings TEXT, blockers TEXT, next_steps TEXT, created_at BIGINT NOT NULL
);
CREATE INDEX notes_task ON notes (task_id, created_at);

CREATE TABLE notices (
    id TEXT NOT NULL PRIMARY KEY, person_id TEXT NOT NULL REFERENCES agents (id), "key" TEXT NOT NULL,
    channel TEXT NOT NULL, content TEXT NOT NULL, created_at BIGINT NOT NULL, next_at BIGINT,
    attempts BIGINT NOT NULL, sent_at BIGINT, given_up_at BIGINT, over_at BIGINT, error TEXT
);
CREATE INDEX notices_due ON notices (channel, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX notices_key ON notices (person_id, "key", channel, created_at);
CREATE UNIQUE INDEX notices_lasting ON notices (person_id, "key", channel) WHERE over_at IS NULL;
CREATE INDEX notices_over ON notices (over_at);

CREATE TABLE notification_preferences (
    person_id TEXT NOT NULL PRIMARY KEY REFERENCES agents (id), muted TEXT, quiet_from BIGINT, quiet_to BIGINT,
    time_zone TEXT NOT NULL
);

CREATE TABLE notifications (
    id TEXT NOT NULL PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects (id),
    agent_id TEXT NOT NULL REFERENCES agents (id), purpose TEXT NOT NULL, session_id TEXT NOT NULL, task_id TEXT,
    kind TEXT NOT NULL, message TEXT NOT NULL, cause TEXT, created_at BIGINT NOT NULL, delivered_at BIGINT
);
CREATE INDEX notifications_waiting ON notifications (session_id) WHERE delivered_at IS NULL;

CREATE TABLE people (
    agent_id TEXT NOT NULL PRIMARY KEY REFERENCES agents (id), login TEXT NOT NULL, password_hash TEXT,
    subject TEXT UNIQUE, changed_at BIGINT NOT NULL, own_login TEXT, email TEXT
);

CREATE TABLE presences (
    agent_id TEXT NOT NULL PRIMARY KEY REFERENCES agents (id), project_id TEXT NOT NULL REFERENCES projects (id),
    agent_type TEXT NOT NULL, capabilities TEXT, registered_at BIGINT NOT NULL, seen_at BIGINT NOT NULL,
    heartbeat_at BIGINT, offline_at BIGINT
);
CREATE INDEX presences_project ON presences (project_id, agent_type);

CREATE TABLE push_keys (id INTEGER NOT NULL PRIMARY KEY, private_key TEXT NOT NULL, created_at BIGINT NOT NULL);

CREATE TABLE sign_ins (
    id TEXT NOT NULL PRIMARY KEY, agent_id TEXT NOT NULL REFERENCES agents (id), at_most TEXT NOT NULL,
    how TEXT NOT NULL, created_at BIGINT NOT NULL, expires_at BIGINT NOT NULL, ended_at BIGINT, browser TEXT,
    token_hash TEXT NOT NULL UNIQUE, made_by TEXT, made_with TEXT
);
CREATE INDEX sign_ins_person ON sign_ins (agent_id, created_at);

CREATE TABLE push_subscriptions (
    id TEXT NOT NULL PRIMARY KEY, person_id TEXT NOT NULL REFERENCES agents (id),
    sign_in_id TEXT NOT NULL UNIQUE REFERENCES sign_ins (id), endpoint TEXT NOT NULL UNIQUE, p256dh TEXT NOT NULL,
    auth TEXT NOT NULL, language TEXT NOT NULL, created_at BIGINT NOT NULL
);
CREATE INDEX push_subscriptions_person ON push_subscriptions (person_id);

CREATE TABLE questions (
    id TEXT NOT NULL PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects (id),
    task_id TEXT NOT NULL REFERENCES tasks (id), agent_id TEXT NOT NULL REFERENCES agents (id),
    question TEXT NOT NULL, options TEXT, multiple BOOLEAN NOT NULL, free_text BOOLEAN NOT NULL, fallback TEXT,
    deadline BIGINT, to_person TEXT REFERENCES agents (id), alike TEXT NOT NULL, state TEXT NOT NULL,
    created_at BIGINT NOT NULL, choices TEXT, written TEXT, ended_by TEXT, ended_at BIGINT, reason TEXT,
    check_id TEXT, review_task_id TEXT
);
CREATE INDEX questions_alike ON questions (project_id, alike);
CREATE INDEX questions_open ON questions (deadline) WHERE state = 'open';
CREATE INDEX questions_project ON questions (project_id, created_at);
CREATE INDEX questions_task ON questions (task_id, created_at);

CREATE TABLE quota_windows (
    account TEXT NOT NULL, length TEXT NOT NULL, length_ms BIGINT NOT NULL, began_at BIGINT, used BIGINT NOT NULL,
    set_limit BIGINT, learnt_limit BIGINT, learnt_at BIGINT, reserve BIGINT NOT NULL,
    low_spare BOOLEAN NOT NULL DEFAULT FALSE, PRIMARY KEY (account, length)
);

CREATE TABLE retention (
    id INTEGER NOT NULL PRIMARY KEY, begins_at BIGINT NOT NULL, events_to BIGINT NOT NULL, audit_to BIGINT NOT NULL,
    horizon BIGINT NOT NULL
);

CREATE TABLE saved_views (
    id TEXT NOT NULL PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects (id),
    person_id TEXT NOT NULL REFERENCES agents (id), name TEXT NOT NULL, view TEXT NOT NULL, q TEXT NOT NULL,
    arranged TEXT, everybody BOOLEAN NOT NULL, created_at BIGINT NOT NULL
);
CREATE INDEX saved_views_project ON saved_views (project_id);

CREATE TABLE schedules (
    id TEXT NOT NULL PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects (id), name TEXT NOT NULL, cron TEXT,
    every BIGINT, once BIGINT, time_zone TEXT NOT NULL, anchor BIGINT NOT NULL, overlap TEXT NOT NULL,
    catch_up BIGINT NOT NULL, failures_allowed BIGINT NOT NULL, task TEXT NOT NULL,
    runs_as TEXT NOT NULL REFERENCES agents (id), login TEXT NOT NULL, created_at BIGINT NOT NULL,
    state TEXT NOT NULL, state_by TEXT, state_at BIGINT, reason TEXT, next_at BIGINT, buffered BIGINT,
    failures BIGINT NOT NULL, runs BIGINT NOT NULL, after_task TEXT
);
CREATE INDEX schedules_due ON schedules (next_at) WHERE state = 'active';
CREATE INDEX schedules_project ON schedules (project_id);

CREATE TABLE schedule_runs (
    id TEXT NOT NULL PRIMARY KEY, schedule_id TEXT NOT NULL REFERENCES schedules (id),
    project_id TEXT NOT NULL REFERENCES projects (id), scheduled_at BIGINT NOT NULL, at BIGINT NOT NULL,
    outcome TEXT NOT NULL, times BIGINT NOT NULL, task_id TEXT REFERENCES tasks (id), reason TEXT, started_by TEXT,
    result TEXT
);
CREATE INDEX schedule_runs_open ON schedule_runs (schedule_id) WHERE task_id IS NOT NULL AND result IS NULL;
CREATE INDEX schedule_runs_schedule ON schedule_runs (schedule_id, scheduled_at);
CREATE INDEX schedule_runs_task ON schedule_runs (task_id);

CREATE TABLE search_progress (id INTEGER NOT NULL PRIMARY KEY, events_to BIGINT NOT NULL);

CREATE TABLE search_terms (
    project_id TEXT NOT NULL REFERENCES projects (id), kind TEXT NOT NULL, term TEXT NOT NULL,
    source_id TEXT NOT NULL, task_id TEXT, PRIMARY KEY (project_id, kind, term, source_id)
);
CREATE INDEX search_terms_source ON search_terms (source_id);
CREATE INDEX search_terms_task ON search_terms (task_id);

CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY, agent_id TEXT NOT NULL REFERENCES agents (id),
    project_id TEXT NOT NULL REFERENCES projects (id), purpose TEXT NOT NULL, task_id TEXT REFERENCES tasks (id),
    launch_id TEXT NOT NULL REFERENCES launches (id), fence BIGINT NOT NULL, lease_seconds BIGINT NOT NULL,
    expires_at BIGINT NOT NULL, created_at BIGINT NOT NULL, last_call_at BIGINT NOT NULL, heard_at BIGINT NOT NULL,
    patience BIGINT NOT NULL, root_id TEXT, correlation_id TEXT, model_provider TEXT, model_id TEXT,
    model_verified BOOLEAN, fetched_at BIGINT, fetched_event BIGINT, choice TEXT, choice_event BIGINT,
    refused_for_delegation BOOLEAN NOT NULL, delegation_waits BIGINT NOT NULL, told TEXT, told_times BIGINT NOT NULL,
    told_event BIGINT NOT NULL, refusals BIGINT NOT NULL, idle_calls BIGINT NOT NULL, idle_event BIGINT NOT NULL,
    calls BIGINT NOT NULL, runaway TEXT, runaway_at BIGINT, ended_at BIGINT, end_reason TEXT, report TEXT,
    token_hash TEXT NOT NULL UNIQUE
);
CREATE INDEX sessions_launch ON sessions (launch_id);
CREATE UNIQUE INDEX sessions_live ON sessions (project_id, agent_id, purpose) WHERE ended_at IS NULL;
CREATE INDEX sessions_newest ON sessions (created_at, id);
CREATE INDEX sessions_task ON sessions (task_id);

CREATE TABLE shared_entries (
    project_id TEXT NOT NULL REFERENCES projects (id), "key" TEXT NOT NULL, version BIGINT NOT NULL,
    updated_at BIGINT NOT NULL, updated_by TEXT NOT NULL, expires_at BIGINT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (project_id, key)
);
CREATE INDEX shared_entries_expiry ON shared_entries (expires_at);

CREATE TABLE sign_in_links (
    code_hash TEXT NOT NULL PRIMARY KEY, agent_id TEXT NOT NULL REFERENCES agents (id), at_most TEXT NOT NULL,
    expires_at BIGINT NOT NULL, used_at BIGINT, made_by TEXT, made_with TEXT
);

CREATE TABLE task_templates (
    project_id TEXT NOT NULL REFERENCES projects (id), name TEXT NOT NULL, content TEXT NOT NULL,
    changed_by TEXT NOT NULL, changed_at BIGINT NOT NULL, PRIMARY KEY (project_id, name)
);

CREATE TABLE threads (
    project_id TEXT NOT NULL REFERENCES projects (id), thread TEXT NOT NULL, low_id TEXT NOT NULL,
    high_id TEXT NOT NULL, newest BIGINT NOT NULL, newest_at BIGINT NOT NULL, seen_low BIGINT NOT NULL,
    seen_high BIGINT NOT NULL, PRIMARY KEY (project_id, thread)
);
CREATE INDEX threads_high ON threads (project_id, high_id);
CREATE INDEX threads_low ON threads (project_id, low_id);

CREATE TABLE tokens (
    hash TEXT NOT NULL PRIMARY KEY, kind TEXT NOT NULL, agent_id TEXT, login TEXT, name TEXT NOT NULL,
    created_at BIGINT NOT NULL, revoked_at BIGINT, place TEXT
);

CREATE TABLE usage_days (
    project_id TEXT NOT NULL REFERENCES projects (id), day BIGINT NOT NULL,
    agent_id TEXT NOT NULL REFERENCES agents (id), task_id TEXT NOT NULL, purpose TEXT NOT NULL,
    provider TEXT NOT NULL, model TEXT NOT NULL, launches BIGINT NOT NULL, input_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL, output_tokens BIGINT NOT NULL, cost_usd FLOAT, turns BIGINT NOT NULL,
    tool_calls BIGINT NOT NULL, without_price BIGINT NOT NULL, lower_bounds BIGINT NOT NULL,
    PRIMARY KEY (project_id, day, agent_id, task_id, purpose, provider, model)
);
CREATE INDEX usage_days_agent ON usage_days (agent_id, day);
CREATE INDEX usage_days_task ON usage_days (task_id);

CREATE TABLE usages (
    launch_id TEXT NOT NULL PRIMARY KEY REFERENCES launches (id), project_id TEXT NOT NULL REFERENCES projects (id),
    agent_id TEXT NOT NULL REFERENCES agents (id), task_id TEXT REFERENCES tasks (id), purpose TEXT NOT NULL,
    provider TEXT, model TEXT, day BIGINT NOT NULL, input_tokens BIGINT NOT NULL, cached_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL, cost_usd FLOAT, turns BIGINT NOT NULL, tool_calls BIGINT NOT NULL,
    lower_bound BOOLEAN NOT NULL, updated_at BIGINT NOT NULL
);
CREATE INDEX usages_agent ON usages (agent_id, day);
CREATE INDEX usages_sums ON usages (project_id, day, input_tokens, cached_tokens, output_tokens, cost_usd, turns, tool_calls, lower_bound);
CREATE INDEX usages_task ON usages (task_id);

CREATE TABLE viewers (
    id TEXT NOT NULL PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects (id),
    agent_id TEXT NOT NULL REFERENCES agents (id), person_id TEXT NOT NULL REFERENCES agents (id),
    opened_at BIGINT NOT NULL, seen_at BIGINT NOT NULL, closed_at BIGINT
);
CREATE INDEX viewers_open ON viewers (project_id, agent_id) WHERE closed_at IS NULL;

CREATE TABLE visits (person_id TEXT NOT NULL PRIMARY KEY REFERENCES agents (id), at BIGINT NOT NULL);

CREATE TABLE webhooks (
    id TEXT NOT NULL PRIMARY KEY, project_id TEXT NOT NULL REFERENCES projects (id), name TEXT NOT NULL,
    secret TEXT NOT NULL, events TEXT, failures_allowed BIGINT NOT NULL, task TEXT NOT NULL,
    runs_as TEXT NOT NULL REFERENCES agents (id), login TEXT NOT NULL, created_at BIGINT NOT NULL,
    state TEXT NOT NULL, state_by TEXT, state_at BIGINT, reason TEXT, failures BIGINT NOT NULL, tasks BIGINT NOT NULL
);
CREATE INDEX webhooks_project ON webhooks (project_id);

CREATE TABLE webhook_deliveries (
    id TEXT NOT NULL PRIMARY KEY, webhook_id TEXT NOT NULL REFERENCES webhooks (id),
    project_id TEXT NOT NULL REFERENCES projects (id), "key" TEXT NOT NULL, event TEXT, at BIGINT NOT NULL,
    outcome TEXT NOT NULL, times BIGINT NOT NULL, task_id TEXT REFERENCES tasks (id), waits BOOLEAN NOT NULL,
    reason TEXT, result TEXT
);
CREATE UNIQUE INDEX webhook_deliveries_key ON webhook_deliveries (webhook_id, "key") WHERE task_id IS NOT NULL;
CREATE INDEX webhook_deliveries_open ON webhook_deliveries (webhook_id) WHERE task_id IS NOT NULL AND result IS NULL;
CREATE INDEX webhook_deliveries_task ON webhook_deliveries (task_id);
CREATE INDEX webhook_deliveries_webhook ON webhook_deliveries (webhook_id, at);

CREATE TABLE worktree_jobs (
    id TEXT NOT NULL PRIMARY KEY, kind TEXT NOT NULL, task_id TEXT NOT NULL REFERENCES tasks (id),
    project_id TEXT NOT NULL REFERENCES projects (id), coordinator_id TEXT NOT NULL, asked_by TEXT NOT NULL,
    options TEXT, created_at BIGINT NOT NULL, taken_at BIGINT, finished_at BIGINT, done BOOLEAN, answer TEXT
);
CREATE INDEX worktree_jobs_task ON worktree_jobs (task_id, created_at);
CREATE INDEX worktree_jobs_waiting ON worktree_jobs (coordinator_id) WHERE finished_at IS NULL;

CREATE TABLE worktrees (
    task_id TEXT NOT NULL PRIMARY KEY REFERENCES tasks (id), project_id TEXT NOT NULL REFERENCES projects (id),
    coordinator_id TEXT NOT NULL, path TEXT NOT NULL, directory TEXT NOT NULL, branch TEXT NOT NULL, base_branch TEXT,
    base_commit TEXT NOT NULL, head_commit TEXT, commits BIGINT NOT NULL, files_changed BIGINT NOT NULL,
    insertions BIGINT NOT NULL, deletions BIGINT NOT NULL, state TEXT NOT NULL, merged_commit TEXT, merged_into TEXT,
    trouble TEXT, created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL, touched TEXT
);
CREATE INDEX worktrees_created ON worktrees (project_id, created_at, task_id);
CREATE INDEX worktrees_open ON worktrees (created_at) WHERE state = 'open';
