"""Every pitfall of the specification that a test can concern, and which tests prove that it is no pitfall here.

`tests` are the names of tests (pytest node ids). `why_not` says what is not proven and why: some of what failed
elsewhere is no part of Toryo. A row without tests needs it.
`test_table.py` holds this list to the files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NUMBERS = tuple(range(1, 144))


@dataclass(frozen=True)
class Row:
    number: int
    lesson: str
    proofs: Sequence[tuple[str, ...]] = ()
    why_not: str = ""

    @property
    def tests(self) -> tuple[str, ...]:
        """The node ids of the tests that prove it."""
        return tuple(each for proof in self.proofs for each in proof)


def of(file: str, *names: str) -> tuple[str, ...]:
    """Node ids: tests of these names in a file below `tests/`, both without what is the same in all."""
    return tuple(f"tests/{file}.py::test_{name}" for name in names)


TABLE: tuple[Row, ...] = (
    Row(
        1,
        "One server owns the database; everybody else is a client with an address.",
        [
            of(
                "pitfalls/test_processes",
                "f1_one_process_has_the_database_open_and_agents_know_an_address_and_no_database",
            ),
            of("storage/test_sqlite", "a_second_owner_is_refused_until_the_first_is_gone"),
        ],
    ),
    Row(
        2,
        "A call that waits holds up no other.",
        [
            of("pitfalls/test_processes", "f2_ten_calls_that_wait_hold_up_no_other"),
            of("transports/test_every_way", "a_waiting_call_holds_up_no_other_and_ends_at_once_when_there_is_work"),
        ],
    ),
    Row(
        3,
        "An answer arrives whole, however large, or is refused; it never brings the server down.",
        [
            of("pitfalls/test_processes", "f3_large_answers_arrive_whole_many_at_a_time_and_the_server_lives"),
            of("transports/test_every_way", "answers_of_a_megabyte_arrive_complete_many_at_a_time"),
        ],
        why_not="Skills, the largest answers there, are no part of Toryo.",
    ),
    Row(
        4,
        "A failed sign-in leads to no second start, and people see it.",
        [of("pitfalls/test_starting", "f4_a_failed_sign_in_starts_no_second_process_and_is_seen_by_people")],
    ),
    Row(
        5,
        "An order expires only if nobody has signed in for it, and once.",
        [
            of("pitfalls/test_starting", "f5_an_order_times_out_once_and_only_while_nobody_has_signed_in_for_it"),
            of("housekeeping/test_talk", "a_person_is_told_exactly_once_that_nobody_came_for_what_they_wrote_and_why"),
            of("housekeeping/test_talk", "nobody_is_told_anything_when_a_chat_session_has_signed_in_in_time"),
        ],
        why_not="No browser watches the panel while its order expires.",
    ),
    Row(
        6,
        "What one part has committed, every other part reads at once.",
        [
            of("pitfalls/test_processes", "f6_what_was_written_through_one_door_is_read_through_the_other_at_once"),
            of("bus/test_remote", "a_hint_reaches_the_other_server"),
            of("storage/test_postgresql", "two_servers_share_one_database_and_lose_nothing"),
        ],
    ),
    Row(
        7,
        "Whoever is refused at sign-in is told to exit, and is ended if it stays.",
        [
            of("pitfalls/test_starting", "f7_a_process_that_stays_after_a_refused_sign_in_is_ended_by_its_coordinator"),
            of("operations/test_signing_in", "every_refusal_says_exit"),
            of("coordinator/test_session", "a_refused_sign_in_ends_it_with_its_own_exit_code"),
        ],
    ),
    Row(
        8,
        "An agent's chat and its task are decided and live independently.",
        [
            of(
                "workflow/test_launch",
                "chat_and_task_are_decided_independently",
            ),
            of(
                "operations/test_panels",
                "chat_and_task_run_side_by_side_and_end_without_each_other",
            ),
            of(
                "operations/test_chat_starts",
                "losing_both_processes_of_an_agent_brings_both_back",
            ),
            of(
                "scenarios/test_chat_killed",
                "killing_one_process_of_an_agent_leaves_its_other_one_as_it_was",
            ),
        ],
    ),
    Row(
        9,
        "The end of one process ends the session it has signed in for, and no other.",
        [of("operations/test_leases", "the_exit_of_one_process_ends_its_own_session_only")],
    ),
    Row(
        10,
        "Processes are known by their launch, so no second one overwrites the first.",
        [of("coordinator/test_loop", "two_processes_of_one_agent_are_two")],
    ),
    Row(
        11,
        "A Coordinator that was stopped or killed leaves nothing behind that holds up the next one.",
        [
            of(
                "pitfalls/test_starting",
                "f11_what_a_coordinator_took_along_when_it_was_stopped_is_started_by_the_next_one",
            ),
            of(
                "scenarios/test_leaving",
                "a_coordinator_that_leaves_takes_its_agents_along_and_the_next_goes_on_at_once",
            ),
            of(
                "scenarios/test_killed",
                "a_coordinator_that_is_killed_leaves_its_agents_at_work_for_the_next_one",
                "work_whose_coordinator_stays_away_is_released_and_done_by_the_next_one",
            ),
        ],
    ),
    Row(
        12,
        "Liveness is a lease of seconds, not a time-out of an hour, and what has expired is swept.",
        [
            of("pitfalls/test_starting", "f12_a_dead_session_holds_up_nobody_for_longer_than_its_lease_and_is_swept"),
            of("housekeeping/test_sweeping", "a_session_whose_lease_is_over_is_ended_and_its_task_stays_in_progress"),
        ],
    ),
    Row(
        13,
        "A manager that left to wait is started when what it waits for is done.",
        [
            of(
                "pitfalls/test_starting",
                "f13_a_manager_that_left_to_wait_is_started_by_the_next_poll_after_its_last_worker_finished",
            ),
            of("operations/test_waiting_manager", "wait_ends_the_session_in_the_same_act_and_logout_still_succeeds"),
        ],
    ),
    Row(
        14,
        "Nobody is told to make a call that must fail; logout always succeeds.",
        [
            of(
                "pitfalls/test_starting",
                "f14_the_logout_that_an_answer_tells_to_make_succeeds_though_the_session_is_over",
            )
        ],
    ),
    Row(
        15,
        "Every call renews the lease.",
        [
            of(
                "pitfalls/test_starting",
                "f15_a_session_that_calls_every_ten_minutes_lives_for_hours_and_a_silent_one_does_not",
            ),
            of("operations/test_leases", "every_call_renews_it_without_limit"),
        ],
    ),
    Row(
        16,
        "A restarted session has the same main task, whatever hangs below it.",
        [
            of(
                "pitfalls/test_starting",
                "f16_a_restarted_session_resumes_the_same_main_task_with_three_levels_below",
            ),
            of(
                "operations/test_delegations",
                "a_task_session_that_was_lost_finds_the_result_in_the_next_one",
            ),
        ],
    ),
    Row(
        17,
        "Waiting costs no turns, and how a program is started is said in one place.",
        [
            of("pitfalls/test_starting", "f17_waiting_costs_an_agent_no_turns"),
            of("coordinator/test_providers", "a_template_may_name_where_everything_goes"),
        ],
    ),
    Row(
        18,
        "The order says what a session is for; signing in never guesses.",
        [
            of("operations/test_signing_in", "the_launch_says_what_the_session_is_for"),
            of("pitfalls/test_starting", "f18_an_order_for_chat_is_a_chat_whatever_begins_before_its_process_signs_in"),
        ],
    ),
    Row(
        19,
        "An exit report concerns its own launch, however late it comes.",
        [
            of("pitfalls/test_starting", "f19_an_exit_report_that_comes_after_the_next_start_ends_nothing_of_it"),
            of("operations/test_leases", "the_exit_of_one_process_ends_its_own_session_only"),
        ],
    ),
    Row(
        20,
        "One order per agent, project and purpose; only its own sign-in or time-out clears it.",
        [
            of(
                "pitfalls/test_starting",
                "f20_an_order_is_cleared_by_its_own_sign_in_or_time_out_and_by_nothing_else",
            ),
            of(
                "operations/test_panels",
                "opening_the_chat_starts_it_also_while_a_task_is_being_started",
            ),
            of(
                "operations/test_chat_starts",
                "an_order_that_nobody_follows_runs_out_and_the_next_one_is_given",
            ),
        ],
    ),
    Row(
        21,
        "Of many who ask at once exactly one starts.",
        [
            of(
                "operations/test_starting",
                "of_fifty_who_ask_at_once_exactly_one_is_told_to_start",
                "of_fifty_who_ask_two_servers_at_once_exactly_one_is_told_to_start",
            )
        ],
    ),
    Row(
        22,
        "A waiting manager is started for a cause, and once for each.",
        [
            of(
                "operations/test_waiting_manager",
                "no_start_while_workers_are_busy_on_grandchildren_and_exactly_one_when_they_are_done",
            )
        ],
    ),
    Row(
        23,
        "Waiting is allowed only while something is sure to end it.",
        [
            of("pitfalls/test_starting", "f23_wait_is_accepted_only_if_somebody_is_sure_to_wake_the_manager"),
            of("operations/test_waiting_manager", "wait_is_refused_where_nothing_would_wake_it"),
        ],
    ),
    Row(
        24,
        "A quota message or a failure cools down, longer each time, and the server remembers it.",
        [
            of(
                "pitfalls/test_starting",
                "f24_a_quota_message_holds_for_its_time_and_a_tenth_whichever_coordinator_asks",
                "f24_gaps_grow_with_each_plain_failure_and_a_success_begins_anew",
            ),
            of("coordinator/test_providers", "a_model_program_that_failed_is_understood_by_its_last_words"),
            of(
                "operations/test_coordination",
                "a_quota_message_sets_the_time_it_names_and_a_tenth_more",
                "failures_cool_down_for_a_minute_and_double_up_to_an_hour",
            ),
            of(
                "operations/test_programs",
                "f24_twenty_five_minutes_after_a_quota_of_twenty_three_nothing_was_started",
                "f24_three_plain_failures_have_growing_gaps_up_to_an_hour_and_a_success_clears_them",
            ),
        ],
    ),
    Row(
        25,
        "No start is ordered that cannot happen; people see the cooldown.",
        [
            of("pitfalls/test_starting", "f25_an_agent_that_cools_down_is_not_ordered_and_people_see_until_when"),
            of("operations/test_coordination", "an_agent_in_cooldown_is_ordered_by_nobody_for_a_hundred_polls"),
            of("operations/test_programs", "f25_who_cools_down_has_no_order_that_nobody_carries_out"),
        ],
    ),
    Row(
        26,
        "A failure is not itself work that starts the agent again; what the system says is nobody's work.",
        [
            of(
                "pitfalls/test_starting",
                "f26_a_failed_agent_without_other_work_is_not_started_by_its_own_failure",
            ),
            of(
                "operations/test_chat_starts",
                "a_failing_agent_with_nothing_but_a_message_of_the_system_is_left_alone",
            ),
            of(
                "operations/test_messages",
                "messages_of_the_system_start_nobody_and_are_delivered_to_no_agent",
            ),
        ],
    ),
    Row(
        27,
        "Unread is what was not delivered, not what was not answered.",
        [
            of(
                "pitfalls/test_talking",
                "f27_f28_ten_sessions_read_and_answer_nothing_and_a_hundred_polls_start_nobody",
            ),
            of(
                "operations/test_messages",
                "a_message_that_was_delivered_and_needs_no_answer_starts_nobody",
                "what_no_open_thread_has_shown_is_unread_whether_or_not_it_is_answered",
            ),
        ],
    ),
    Row(
        28,
        "What the system says in a chat is nobody's work.",
        [
            of(
                "pitfalls/test_talking",
                "f27_f28_ten_sessions_read_and_answer_nothing_and_a_hundred_polls_start_nobody",
            ),
            of(
                "operations/test_messages",
                "messages_of_the_system_start_nobody_and_are_delivered_to_no_agent",
            ),
            of(
                "operations/test_conversations",
                "what_is_over_starts_nobody",
            ),
        ],
    ),
    Row(
        29,
        "An idle chat is one call that waits.",
        [
            of(
                "operations/test_panels",
                "ten_minutes_without_a_message_are_fourteen_calls_that_wait",
                "ten_idle_minutes_end_the_session_though_the_panel_is_open_and_it_stays_away",
            ),
            of(
                "transports/test_waiting_for_messages",
                "when_nothing_happens_the_wait_ends_and_the_agent_is_told_to_call_again",
            ),
        ],
    ),
    Row(
        30,
        "One way of waiting for every transport; a client is more patient than the server.",
        [
            of(
                "pitfalls/test_processes",
                "f30_a_wait_ends_by_its_cause_over_every_way_and_else_with_its_time",
                "f30_a_client_is_more_patient_than_the_server_lets_it_wait",
            ),
            of("transports/test_every_way", "a_waiting_call_holds_up_no_other_and_ends_at_once_when_there_is_work"),
            of("server/test_rest", "a_long_poll_answers_when_it_is_hinted"),
        ],
    ),
    Row(
        31,
        "Storing a message and creating the work it means is one act.",
        [
            of(
                "operations/test_messages",
                "storing_and_creating_the_work_are_one_act_on_every_path",
                "a_message_wakes_a_claim_and_a_session_that_wait",
            ),
        ],
    ),
    Row(
        32,
        "Opening a chat is work of its own.",
        [
            of(
                "operations/test_panels",
                "opening_the_chat_starts_the_agent_without_a_word",
                "opening_the_chat_starts_it_also_while_a_task_is_being_started",
            ),
            of(
                "scenarios/test_talking",
                "one_process_answers_all_and_leaves_when_the_panel_is_closed",
            ),
            of(
                "browser/test_chat",
                "f32_f33_a_panel_that_is_closed_and_opened_again_at_once_is_connected_anew",
            ),
        ],
    ),
    Row(
        33,
        "A chat that is ending is not an active one.",
        [
            of(
                "pitfalls/test_talking",
                "f33_a_panel_opened_and_closed_ten_times_within_seconds_ends_with_one_live_session",
            ),
            of(
                "operations/test_panels",
                "reopening_before_it_has_left_keeps_the_session",
                "reopening_after_it_was_told_to_leave_starts_a_new_one",
            ),
            of(
                "browser/test_chat",
                "f32_f33_a_panel_that_is_closed_and_opened_again_at_once_is_connected_anew",
            ),
        ],
    ),
    Row(
        34,
        "Closing a tab ends the chat, without a header that a closing tab cannot send.",
        [
            of(
                "operations/test_panels",
                "a_tab_that_dies_closes_its_panel_within_a_minute",
                "a_panel_that_is_heard_of_stays_open",
                "a_panel_that_was_taken_for_dead_is_opened_anew",
            ),
            of(
                "housekeeping/test_talk",
                "a_panel_that_is_not_heard_of_any_more_is_closed_and_its_agent_leaves",
            ),
            of(
                "browser/test_chat",
                "f34_the_agent_of_a_tab_whose_process_was_killed_leaves_by_itself",
                "leaving_a_panel_ends_its_agent_keeps_what_was_said_and_coming_back_brings_a_new_one",
            ),
        ],
    ),
    Row(
        35,
        "A chat ends when nobody needs it any more, not when one of its viewers leaves.",
        [
            of(
                "operations/test_panels",
                "of_two_who_look_one_may_leave",
                "a_running_conversation_needs_it_when_everybody_has_left",
                "nobody_closes_another_persons_panel",
            ),
            of(
                "browser/test_chat",
                "f35_one_of_two_viewers_leaves_and_the_other_one_goes_on_talking",
            ),
        ],
    ),
    Row(
        36,
        "Holds of the task do not hold the chat.",
        [
            of(
                "workflow/test_launch",
                "chat_and_task_are_decided_independently",
            ),
            of(
                "operations/test_panels",
                "whoevers_task_rests_is_talked_to_and_no_task_session_starts",
            ),
            of(
                "scenarios/test_talking",
                "whoever_waits_is_blocked_or_rests_answers_and_works_no_more_for_that",
            ),
        ],
    ),
    Row(
        37,
        "A pause reaches agents that run, and they go on where they were.",
        [
            of(
                "operations/test_withdrawn",
                "a_paused_project_tells_its_agents_to_leave_and_keeps_their_tasks",
                "a_process_that_does_not_leave_a_paused_project_is_stopped_after_its_longer_grace",
            ),
            of("scenarios/test_people_step_in", "a_paused_project_rests_and_goes_on_where_it_was"),
        ],
    ),
    Row(
        38,
        "Whose task is taken away is stopped, whether it listens or not.",
        [
            of("operations/test_withdrawn", "one_that_does_not_listen_is_stopped_after_the_grace_time"),
            of(
                "scenarios/test_people_step_in",
                "an_agent_that_does_not_look_up_is_ended_with_all_it_started_when_its_task_is_blocked",
            ),
        ],
    ),
    Row(
        39,
        "Who waits longest is next; waiting takes no slot, so nobody starves.",
        [
            of(
                "pitfalls/test_starting",
                "f39_with_one_slot_ten_agents_start_within_ten_rounds_each",
            ),
            of(
                "pitfalls/test_talking",
                "f39_two_agents_that_delegate_to_each_other_both_get_their_partner_with_one_chat_slot",
            ),
            of(
                "operations/test_coordination",
                "the_longest_waiting_comes_first_and_every_agent_gets_its_turn",
            ),
            of(
                "operations/test_chat_starts",
                "chats_have_slots_of_their_own_and_the_longest_waiting_go_first",
                "whoever_anothers_turn_depends_on_takes_no_slot",
            ),
            of(
                "coordinator/test_plan",
                "chats_have_slots_of_their_own_and_some_need_none",
            ),
        ],
    ),
    Row(
        40,
        "A start that is impossible concerns that agent alone.",
        [
            of("operations/test_starting", "one_agent_that_cannot_be_started_keeps_nobody_else_from_it"),
            of("coordinator/test_loop", "one_impossible_start_concerns_that_agent_alone"),
            of("scenarios/test_going_wrong", "an_agent_whose_program_is_missing_is_told_of_and_all_others_go_on"),
        ],
    ),
    Row(
        41,
        "Each launch has generated files of its own.",
        [
            of("pitfalls/test_starting", "f41_a_second_start_of_an_agent_touches_no_file_of_the_first"),
            of("coordinator/test_small_parts", "each_launch_has_a_private_directory_that_is_removed"),
        ],
    ),
    Row(
        42,
        "A Coordinator has one address, and its agents have the same.",
        [
            of(
                "pitfalls/test_processes",
                "f42_f43_a_coordinator_elsewhere_needs_an_address_and_a_token_and_its_logs_are_read_here",
            ),
            of("transports/test_unix_socket", "a_coordinator_and_its_agents_work_over_it"),
        ],
    ),
    Row(
        43,
        "What an agent printed elsewhere is read at the server, or stays where it is.",
        [
            of("pitfalls/test_starting", "f43_what_a_process_printed_elsewhere_is_read_from_the_server"),
            of(
                "pitfalls/test_processes",
                "f42_f43_a_coordinator_elsewhere_needs_an_address_and_a_token_and_its_logs_are_read_here",
            ),
            of(
                "coordinator/test_logs",
                "a_server_that_is_away_gets_the_same_piece_again",
                "after_the_end_a_server_that_stays_away_is_given_up_and_the_file_stays",
            ),
        ],
    ),
    Row(
        44,
        "Log files are named by launch, not by second.",
        [of("pitfalls/test_starting", "f44_two_starts_within_one_second_have_two_log_files")],
    ),
    Row(
        45,
        "Agents inherit what is allowed, not what is there.",
        [
            of("pitfalls/test_processes", "f45_agents_find_nothing_of_what_the_coordinator_was_started_from"),
            of("coordinator/test_loop", "the_environment_is_an_allow_list_and_who_the_agent_is"),
        ],
    ),
    Row(
        46,
        "Each program is started as it needs it, and gets everything as it is.",
        [
            of(
                "pitfalls/test_processes",
                "f46_a_program_of_a_template_gets_prompt_model_directory_and_server_as_they_are",
            ),
            of("coordinator/test_providers", "the_template_of_the_seed_is_the_program_its_arguments_and_the_prompt"),
        ],
        why_not="Adapters for particular model CLIs and other operating systems: still to come.",
    ),
    Row(
        47,
        "One fact stands in one place, so an edit holds from the next start.",
        [
            of("operations/test_starting", "changes_of_provider_model_and_passkey_hold_from_the_next_start"),
            of("operations/test_programs", "f47_after_an_edit_the_next_start_is_of_the_new_program_at_once"),
        ],
    ),
    Row(
        48,
        "A date at the end of a model id is the same model; another model is shown, and work goes on.",
        [
            of(
                "operations/test_signing_in",
                "the_model_is_verified_by_its_beginning_and_a_mismatch_is_seen_while_work_goes_on",
            )
        ],
    ),
    Row(
        49,
        "A tool's error is an error to its client.",
        [
            of("coordinator/test_loop", "a_refused_token_is_one_clear_message_and_no_start"),
            of("scenarios/test_going_wrong", "a_wrong_token_is_refused_and_starts_nothing"),
        ],
    ),
    Row(
        50,
        "An archive is unpacked to where it belongs, or refused.",
        why_not="Skills and their archives are no part of Toryo.",
    ),
    Row(
        51,
        "A path is expanded and checked once; the agent's own directory goes before the project's.",
        [
            of("pitfalls/test_starting", "f51_a_working_directory_is_expanded_and_real_and_the_agents_own_comes_first"),
            of(
                "pitfalls/test_processes",
                "f51_what_an_agent_writes_is_in_the_real_directory_that_its_coordinator_gives_it",
            ),
            of("operations/test_coordination", "an_agents_own_directory_goes_before_the_projects"),
        ],
    ),
    Row(
        52,
        "Whatever state it was left in, there is one healthy server after a start.",
        [
            of(
                "pitfalls/test_processes",
                "f52_after_a_kill_with_a_stale_socket_and_no_address_file_there_is_one_healthy_server",
            ),
            of("server/test_whole_server", "after_a_kill_it_starts_again_on_the_same_directory"),
            of("server/test_listening", "the_unix_socket_is_for_this_user_alone_and_a_stale_one_is_replaced"),
            of("cli/test_running", "a_second_server_in_one_data_directory_is_a_wrong_configuration"),
        ],
    ),
    Row(
        53,
        "A log has one line for each call that matters, and none for polling.",
        [
            of(
                "pitfalls/test_starting",
                "f53_an_idle_hour_of_fifty_agents_writes_next_to_nothing",
                "f53_every_call_is_one_line_that_says_who_what_and_how_it_ended_and_no_secret",
            ),
            of("server/test_logs", "a_file_that_has_grown_is_put_aside_and_the_oldest_forgotten"),
        ],
    ),
    Row(
        54,
        "Creating subtasks ends: at a cap, with the next step named.",
        [of("pitfalls/test_tasks", "f54_an_agent_that_creates_without_end_is_told_to_start_what_it_has")],
    ),
    Row(
        55,
        "A worker's main task may have a parent.",
        [of("pitfalls/test_tasks", "f55_a_worker_is_led_on_by_a_task_that_has_a_parent")],
    ),
    Row(
        56,
        "Offered is what can be started; otherwise who waits for what is said.",
        [
            of("pitfalls/test_tasks", "f56_only_what_can_be_started_is_offered_and_a_deadlock_says_who_waits_for_what"),
            of("pitfalls/test_tasks", "f56_a_subtask_that_waits_for_a_strangers_task_says_so"),
        ],
    ),
    Row(
        57,
        "A manager's subtasks are found by their parent.",
        [of("pitfalls/test_tasks", "f57_a_manager_sees_the_subtasks_that_are_its_workers")],
    ),
    Row(
        58,
        "Nobody's, own, a worker's and a stranger's are told apart.",
        [of("workflow/test_facts", "nobodys_own_workers_and_foreign_children_are_told_apart")],
    ),
    Row(
        59,
        "A manager goes on giving out work while there is some to give.",
        [
            of("operations/test_waiting_manager", "a_manager_may_give_the_next_part_while_others_work"),
            of("workflow/test_manager", "three_children_and_one_dispatched_leaves_the_other_two_to_choose_from"),
        ],
    ),
    Row(
        60,
        "A manager completes its own main task.",
        [of("operations/test_reporting", "a_manager_may_complete_what_its_workers_have_done")],
    ),
    Row(
        61,
        "A manager without workers ends blocked, once, and people see why.",
        [
            of(
                "pitfalls/test_tasks",
                "f61_a_manager_without_workers_is_started_once_and_people_see_why_its_task_is_blocked",
            ),
            of("operations/test_obedience", "a_manager_without_workers_is_started_once_and_reports_that"),
        ],
    ),
    Row(
        62,
        "What a schema offers its handler takes, and what was chosen counts.",
        [of("pitfalls/test_tasks", "f62_every_choice_that_the_schema_offers_is_one_the_handler_takes")],
    ),
    Row(
        63,
        "A plan that is sent twice exists once.",
        [
            of("pitfalls/test_tasks", "f63_a_plan_that_is_sent_again_creates_nothing_and_gets_the_ids_that_exist"),
            of("operations/test_bad_input", "an_idempotency_key_creates_once_and_says_so_when_the_content_differs"),
        ],
    ),
    Row(
        64,
        "A manager that returns is told what happened.",
        [of("pitfalls/test_tasks", "f64_a_manager_that_returns_is_told_what_was_done_while_it_was_away")],
    ),
    Row(
        65,
        "Each new block below wakes the manager once, sessions or not.",
        [
            of(
                "operations/test_waiting_manager",
                "each_new_block_wakes_it_again",
                "a_block_of_a_grandchild_wakes_it",
                "a_block_wakes_it_once",
            )
        ],
    ),
    Row(
        66,
        "Reported blocked is blocked, whatever the subtasks are.",
        [
            of("pitfalls/test_tasks", "f66_reporting_blocked_blocks_the_main_task_whatever_a_subtask_is"),
            of("operations/test_reporting", "blocked_and_failed_need_no_finished_subtasks"),
        ],
    ),
    Row(
        67,
        "No path completes what has open subtasks.",
        [
            of("pitfalls/test_tasks", "f67_no_path_completes_a_task_whose_children_are_open"),
            of("operations/test_reporting", "success_is_refused_while_subtasks_are_open_and_names_them"),
        ],
    ),
    Row(
        68,
        "No path starts what is nobody's.",
        [of("pitfalls/test_tasks", "f68_no_path_starts_a_task_that_is_nobodys_or_leaves_one_at_nobody")],
    ),
    Row(
        69,
        "Who acted is recorded, and superiors at any distance may act.",
        [
            of(
                "pitfalls/test_tasks",
                "f69_a_change_is_its_authors_and_superiors_at_any_distance_may_make_one_and_strangers_not",
            ),
            of("domain/test_moves", "who_may_make_which_moves"),
        ],
    ),
    Row(
        70,
        "An assignee starts its own task unless somebody above stopped it.",
        [
            of("pitfalls/test_tasks", "f70_an_assignee_starts_what_was_put_back_and_not_what_somebody_above_blocked"),
            of("domain/test_moves", "who_may_lift_whose_block"),
        ],
    ),
    Row(
        71,
        "Work that nobody starts is reported, once.",
        [
            of("pitfalls/test_tasks", "f71_a_parent_whose_startable_children_nobody_starts_is_reported_once_and_named"),
            of("housekeeping/test_stalls", "startable_subtasks_that_nobody_starts_are_reported_once_and_named"),
        ],
    ),
    Row(
        72,
        "Reading and polling change no status.",
        [
            of("pitfalls/test_tasks", "f72_reading_a_task_and_polling_do_not_start_it"),
            of("operations/test_main_story", "polling_and_asking_change_no_status"),
        ],
    ),
    Row(
        73,
        "A blocked task alone starts nobody.",
        [of("operations/test_starting", "a_blocked_task_alone_starts_nobody_and_another_in_progress_does")],
    ),
    Row(
        74,
        "A change of status and its event are one act on the real schema.",
        [of("operations/test_reporting", "every_status_path_leaves_one_event_with_its_actor")],
    ),
    Row(
        75,
        "One record for each start, closed by its end.",
        [
            of(
                "pitfalls/test_tasks",
                "f75_a_start_leaves_one_record_however_often_its_task_is_read_and_it_is_closed_by_a_kill",
            )
        ],
    ),
    Row(
        76,
        "The parallel limit counts main tasks of one project.",
        [of("pitfalls/test_tasks", "f76_the_parallel_limit_counts_main_tasks_of_one_project")],
    ),
    Row(
        77,
        "Who asked for a task is kept.",
        [
            of(
                "pitfalls/test_tasks",
                "f77_who_asked_for_a_task_is_kept_and_its_id_says_that_it_is_a_task",
            ),
            of(
                "operations/test_approvals",
                "a_request_of_somebody_who_stands_not_above_is_pending_and_every_person_above_is_asked",
            ),
        ],
    ),
    Row(
        78,
        "Consent is a person's message with the marker, named by its id and used once.",
        [
            of(
                "operations/test_approvals",
                "the_marker_in_what_an_agent_writes_counts_for_nothing",
                "a_later_thanks_takes_nothing_back_and_a_message_is_used_once",
                "only_a_delivered_message_of_a_person_to_this_agent_in_the_last_day_asks_for_anything",
                "a_request_of_a_person_above_with_the_marker_is_approved_at_once",
                "without_the_marker_that_person_is_asked_even_if_they_stand_above",
                "an_agents_message_is_no_consent",
            ),
        ],
    ),
    Row(
        79,
        "Each role and purpose has its own tools; a chat does no work.",
        [
            of(
                "pitfalls/test_security",
                "f79_each_caller_may_call_exactly_what_its_role_and_purpose_are_for",
                "f79_a_chat_does_no_work_and_is_told_who_does",
                "f79_a_task_session_does_not_talk_and_is_told_how_it_is_said",
            ),
            of("operations/test_bad_input", "every_operation_refuses_every_caller_that_its_grant_does_not_name"),
        ],
    ),
    Row(
        80,
        "Nobody's running task is taken over by adding to it.",
        [
            of("pitfalls/test_tasks", "f80_nobody_takes_a_task_over_by_adding_to_it_while_another_works_on_it"),
            of("domain/test_creating", "nothing_is_added_under_a_task_that_somebody_else_works_on"),
        ],
    ),
    Row(
        81,
        "Cancelled is finished.",
        [of("pitfalls/test_tasks", "f81_what_was_cancelled_and_replaced_does_not_keep_a_task_from_its_end")],
    ),
    Row(
        82,
        "A report concerns the reported task alone.",
        [
            of("pitfalls/test_tasks", "f82_success_is_of_the_reported_task_alone_and_starts_or_ends_no_other"),
            of("operations/test_reporting", "it_touches_the_main_task_and_nothing_else"),
        ],
    ),
    Row(
        83,
        "Blocked and failed can be reported with subtasks open.",
        [
            of("pitfalls/test_tasks", "f83_who_is_told_to_review_blocks_may_report_blocked_with_open_subtasks"),
            of(
                "operations/test_reporting",
                "blocked_and_failed_need_no_finished_subtasks",
                "blocked_keeps_the_summary_as_the_reason",
            ),
        ],
    ),
    Row(
        84,
        "Priorities have a rank, not an alphabet; age decides among equals.",
        [
            of("operations/test_starting", "the_launch_is_for_the_first_main_task_by_priority_then_age"),
            of(
                "domain/test_tasks",
                "priorities_are_ordered_by_rank_and_not_by_alphabet",
                "tasks_are_ordered_by_priority_then_age_then_place",
            ),
        ],
    ),
    Row(
        85,
        "A session is bound to one main task.",
        [of("pitfalls/test_tasks", "f85_a_subtask_at_work_is_not_taken_for_the_main_task")],
    ),
    Row(
        86,
        "Dependencies are checked when they are written, on every path.",
        [
            of(
                "pitfalls/test_tasks",
                "f86_a_bad_dependency_is_refused_by_every_path_that_writes_one",
                "f86_waiting_in_a_circle_is_refused_by_every_path_that_could_close_one",
                "f86_a_predecessor_elsewhere_in_the_project_counts_and_a_cancelled_one_flags_who_waits",
            ),
            of("domain/test_dependencies", "waiting_in_a_circle_is_refused_and_the_shortest_circle_is_named"),
        ],
    ),
    Row(
        87,
        "A batch is created whole or not at all.",
        [
            of("pitfalls/test_tasks", "f87_a_mistake_in_one_of_five_leaves_none_of_them"),
            of("operations/test_bad_input", "a_batch_with_a_mistake_in_its_fourth_item_creates_nothing"),
        ],
    ),
    Row(
        88,
        "What an instruction says can be called.",
        [
            of(
                "pitfalls/test_tasks",
                "f88_every_instruction_names_tools_that_exist_with_parameters_that_they_have",
                "f88_the_call_that_an_instruction_shows_is_accepted_as_it_is_shown",
            ),
            of("operations/test_obedience", "an_obedient_crew_finishes_whatever_the_settings_of_the_project"),
        ],
    ),
    Row(
        89,
        "No note and no look decides what is next.",
        [
            of(
                "pitfalls/test_tasks",
                "f89_a_note_or_another_look_never_changes_what_is_next",
                "f89_a_managers_choice_outlives_notes_and_looks",
            )
        ],
    ),
    Row(
        90,
        "What is not approved does not start.",
        [
            of(
                "pitfalls/test_tasks",
                "f90_what_is_not_approved_starts_on_no_path",
                "f90_what_an_ancestor_asked_for_is_approved_by_that_ancestor",
            ),
            of(
                "operations/test_approvals",
                "what_is_not_approved_starts_on_no_path",
                "a_manager_and_a_worker_start_nothing_below_them_that_nobody_has_approved",
                "what_an_agent_changes_about_an_approved_request_is_asked_for_again",
            ),
        ],
    ),
    Row(
        91,
        "Asking for work goes through the rules, and the asker is who asks.",
        [
            of(
                "pitfalls/test_tasks",
                "f91_who_asks_for_a_task_is_the_session_that_asks_and_nobody_it_names",
            ),
            of(
                "pitfalls/test_talking",
                "f91_what_a_chat_asked_for_starts_under_all_the_rules",
            ),
            of(
                "operations/test_approvals",
                "the_requester_is_the_messages_author_whatever_is_claimed",
            ),
        ],
    ),
    Row(
        92,
        "One service stands behind every front; of two writers one is told.",
        [
            of(
                "pitfalls/test_tasks",
                "f92_two_hundred_random_moves_end_alike_whether_an_agent_or_a_person_makes_them",
                "f92_of_two_who_edit_the_same_version_one_is_told_and_no_field_is_lost",
            ),
            of("operations/test_bad_input", "a_stale_version_is_a_conflict_and_no_field_is_lost"),
        ],
    ),
    Row(
        93,
        "A block takes along what is below, and its end gives back exactly that.",
        [
            of("pitfalls/test_tasks", "f93_a_block_and_its_end_reach_all_levels_below_but_what_was_blocked_by_itself"),
            of(
                "domain/test_moves",
                "a_block_takes_everything_open_below_along_and_lifting_it_restores_exactly_that",
                "what_is_taken_along_names_who_did_it_and_why",
            ),
        ],
    ),
    Row(
        94,
        "An inactive agent is nobody to start, sign in or assign.",
        [of("pitfalls/test_tasks", "f94_an_inactive_agent_is_not_started_signed_in_or_given_work")],
        why_not="Locks and audit triggers are no part of Toryo.",
    ),
    Row(
        95,
        "What a chat waits for is one decision, and every cause of it ends the wait.",
        [
            of(
                "operations/test_conversations",
                "a_turn_an_end_and_a_delegation_reach_a_process_that_waits",
            ),
            of(
                "transports/test_waiting_for_messages",
                "what_concerns_a_waiting_chat_agent_ends_its_wait_at_once",
            ),
        ],
    ),
    Row(
        96,
        "Only chat sessions converse.",
        [
            of(
                "seeds/test_task_chat_separation",
                "背景と課題_6往復しりとりは途中で止まらず終わる",
            ),
            of(
                "operations/test_chat",
                "a_task_has_its_agents_talk_for_six_rounds_and_gets_the_result",
            ),
            of(
                "operations/test_messages",
                "a_task_session_is_told_to_delegate_what_it_wants_said",
            ),
        ],
    ),
    Row(
        97,
        "An awaited delegation keeps its task open and wakes it; one that is only to be told does not.",
        [
            of(
                "operations/test_delegations",
                "an_awaited_one_keeps_the_task_from_being_completed",
                "what_is_only_to_be_told_holds_nothing",
                "the_third_wait_in_a_row_leaves_and_its_end_starts_the_task_again_with_the_result",
            ),
        ],
    ),
    Row(
        98,
        "A conversation that is left alone ends, and everybody hears of it.",
        [
            of(
                "pitfalls/test_talking",
                "f98_after_each_way_in_which_a_conversation_is_left_alone_a_new_one_can_begin",
            ),
            of(
                "operations/test_conversations",
                "an_invitation_that_nobody_follows_expires_and_a_new_one_can_begin",
                "ten_minutes_of_silence_end_it_and_both_are_told",
                "a_side_that_never_comes_does_not_keep_it_from_ending",
                "the_next_process_of_a_side_goes_on_where_the_lost_one_stopped",
            ),
        ],
    ),
    Row(
        99,
        "Each side is told of the end for itself.",
        [
            of(
                "operations/test_conversations",
                "each_side_is_told_once_whoever_asks_first",
                "a_side_that_was_not_told_is_told_in_its_next_session_also_when_all_is_long_over",
                "an_ending_that_was_handed_out_to_a_lost_session_is_told_again",
            ),
        ],
    ),
    Row(
        100,
        "Ids are checked and turns are counted in one act; a pair has one open conversation.",
        [
            of(
                "operations/test_conversations",
                "twenty_sends_at_once_from_both_sides_store_no_more_than_the_limit",
                "whoever_takes_no_part_finds_no_conversation",
                "either_side_ends_it_whoevers_turn_it_is",
                "a_second_one_is_the_first_and_what_it_begins_with_is_not_sent",
            ),
        ],
    ),
    Row(
        101,
        "Agents talk to agents in conversations only.",
        [
            of(
                "operations/test_messages",
                "agents_do_not_message_agents_without_a_conversation_and_may_message_people",
            ),
        ],
    ),
    Row(
        102,
        "A delegation has a lease and attempts, and its task hears of its failure.",
        [
            of(
                "operations/test_delegations",
                "a_delegation_whose_session_is_lost_goes_to_the_next_one",
                "after_three_attempts_it_has_failed_and_the_task_is_told",
            ),
            of(
                "scenarios/test_chat_killed",
                "what_a_killed_chat_process_had_in_hand_is_finished_by_the_next_one",
                "after_three_lost_chat_processes_a_task_is_told_and_goes_on_without",
            ),
        ],
    ),
    Row(
        103,
        "Delivery is a cursor by sequence, moved to the last one handed out.",
        [
            of(
                "operations/test_messages",
                "twenty_five_messages_of_one_second_come_each_once_and_in_order_across_a_lost_session",
                "two_processes_in_turn_get_every_message_once",
                "a_message_stored_while_another_is_being_fetched_is_the_next_ones",
            ),
            of(
                "scenarios/test_chat_killed",
                "of_25_messages_each_is_answered_once_and_in_order_across_kills",
            ),
        ],
    ),
    Row(
        104,
        "Messages are in the database, and whether there are any is one row.",
        [
            of(
                "pitfalls/test_talking",
                "f104_whether_somebody_has_mail_is_one_row_and_asks_no_message",
            ),
            of(
                "operations/test_messages",
                "four_writers_with_hundreds_of_messages_each_lose_none",
            ),
        ],
        why_not="How many milliseconds it takes is a benchmark's to say.",
    ),
    Row(
        105,
        "Every message says who wrote it, and an answer goes to its writer.",
        [
            of(
                "operations/test_messages",
                "an_agent_answers_whoever_wrote",
            ),
        ],
    ),
    Row(
        106,
        "Members, those above and those below write to each other, and a thread is of two.",
        [
            of(
                "operations/test_messages",
                "members_ancestors_and_descendants_may_write_and_nobody_else",
                "a_thread_shows_what_two_have_said_and_nothing_of_a_third",
                "whoever_stands_above_reads_what_their_agents_say_marked_as_such_and_others_do_not",
            ),
            of(
                "browser/test_chat",
                "f106_a_person_sees_the_messages_between_the_two_and_none_of_others",
            ),
        ],
    ),
    Row(
        107,
        "An agent that fails is not one that is coming.",
        [
            of(
                "pitfalls/test_talking",
                "f107_a_chat_whose_agent_fails_says_so_and_not_that_it_is_coming",
            ),
            of(
                "scenarios/test_talking",
                "whoever_writes_to_an_agent_that_cannot_sign_in_is_told_once_and_nobody_else",
            ),
            of(
                "browser/test_chat",
                "f107_an_agent_that_cannot_come_leaves_no_waiting_sign_behind",
            ),
        ],
    ),
    Row(
        108,
        "Whoever shows something hears of its change, whoever changed it.",
        [
            of(
                "operations/test_reading",
                "whoever_shows_the_present_etag_waits_for_another_and_is_then_told",
            ),
            of(
                "browser/test_weather",
                "a_card_and_an_open_task_follow_every_change_without_a_click",
            ),
        ],
    ),
    Row(
        109,
        "A notice rides on an answer and replaces none.",
        [
            of(
                "operations/test_notifications",
                "they_ride_on_the_next_answer_and_swallow_nothing",
                "an_interrupted_call_does_nothing_rather_than_half_of_it",
            ),
        ],
    ),
    Row(
        110,
        "A notice is addressed to one session, and void with its cause.",
        [
            of(
                "operations/test_notifications",
                "it_is_the_task_sessions_and_the_chat_session_reads_none_of_it",
                "one_whose_cause_is_void_is_dropped",
                "the_end_of_a_pause_voids_no_interrupt_but_its_own",
                "one_that_was_left_by_a_session_that_is_over_does_not_stop_the_next_one",
                "a_chat_session_tells_its_own_task_session",
            ),
        ],
    ),
    Row(
        111,
        "Every human action on running work is told to whoever works there.",
        [
            of(
                "operations/test_notifications",
                "each_human_action_on_a_running_task_is_told_to_its_session",
                "each_human_action_below_a_running_manager_is_told_to_it",
                "a_verdict_is_told_to_the_session_that_asked",
            ),
        ],
    ),
    Row(
        112,
        "People who look are no agents at work.",
        [
            of(
                "pitfalls/test_talking",
                "f112_a_person_who_looks_around_makes_no_agents_session_and_no_launch",
            ),
            of("browser/test_signing_in", "f112_ten_sign_ins_of_a_browser_are_one_and_no_work_of_agents"),
        ],
    ),
    Row(
        113,
        "Who is connected in one project is not connected in another.",
        [
            of(
                "operations/test_panels",
                "who_is_connected_here_is_not_connected_elsewhere",
            ),
            of(
                "browser/test_chat",
                "f113_whoever_is_connected_in_one_project_is_off_in_another",
            ),
        ],
    ),
    Row(
        114,
        "Every id in an answer can be used, and every argument of a schema is taken.",
        [
            of(
                "pitfalls/test_talking",
                "f114_every_id_that_an_answer_of_a_chat_names_can_be_used",
            ),
            of("browser/test_views", "f114_every_id_that_a_view_links_to_is_there"),
        ],
        why_not="Priorities of notifications are told and never asked for.",
    ),
    Row(
        115,
        "Opening a chat says nothing.",
        [
            of(
                "operations/test_panels",
                "opening_the_chat_starts_the_agent_without_a_word",
            ),
        ],
    ),
    Row(
        116,
        "What an agent holds is worth that agent, and nothing of the Coordinator's.",
        [
            of(
                "pitfalls/test_processes",
                "f116_what_stands_in_an_agents_environment_and_files_is_worth_that_agent_and_no_more",
            ),
            of("pitfalls/test_security", "f116_nothing_that_an_agent_holds_opens_a_tool_of_coordinators"),
        ],
    ),
    Row(
        117,
        "An agent is no person: none of its credentials opens a route of people.",
        [
            of("pitfalls/test_security", "f117_nothing_that_an_agent_holds_opens_a_route_of_people"),
            of("server/test_whole_server", "a_persons_token_opens_rest_and_no_other_does"),
        ],
    ),
    Row(
        118,
        "What belongs to another project is not found, on every path.",
        [
            of(
                "pitfalls/test_security",
                "f118_an_id_of_another_project_is_not_found_by_any_tool_of_a_session",
                "f118_an_id_of_another_project_is_not_found_by_any_route_of_a_member",
            ),
            of("operations/test_reading", "ids_of_another_project_are_not_found"),
            of("transports/test_prompts", "what_belongs_to_another_project_is_not_found"),
        ],
    ),
    Row(
        119,
        "No path leads out of the directory it is for.",
        [
            of(
                "pitfalls/test_security",
                "f119_a_path_outside_of_the_project_is_neither_read_nor_checked",
                "f119_a_path_for_an_id_is_an_id_that_does_not_exist",
            )
        ],
        why_not="Uploads and skills, whose files a server would have to read, are no part of Toryo.",
    ),
    Row(
        120,
        "No secret is stored, logged or shown in arguments.",
        [
            of("pitfalls/test_processes", "f120_no_secret_is_in_database_logs_or_arguments"),
            of(
                "browser/test_settings",
                "f120_an_agent_is_made_changed_and_switched_off_and_its_passkey_is_seen_once",
            ),
            of("operations/test_signing_in", "no_secret_is_stored_or_told_in_an_event"),
            of("coordinator/test_logs", "secrets_are_masked_the_known_ones_and_what_looks_like_one"),
        ],
    ),
    Row(
        121,
        "Not every person is the owner, and guessing a passkey ends in a lock.",
        [
            of("pitfalls/test_security", "f121_a_person_who_is_not_the_owner_does_nothing_of_the_owners"),
            of("browser/test_settings", "f121_whoever_is_no_owner_changes_no_settings"),
            of("browser/test_signing_in", "f121_wrong_passwords_in_a_row_lock_the_door_even_for_the_right_one"),
            of("operations/test_signing_in", "five_failures_lock_sign_in_by_passkey_only"),
        ],
    ),
    Row(
        122,
        "Words of one's own are added to the protocol, never in its place.",
        [
            of("pitfalls/test_security", "f122_words_of_ones_own_are_added_to_the_protocol_and_never_in_its_place"),
            of("coordinator/test_providers", "the_first_words_are_the_fixed_protocol_and_then_the_projects_own"),
        ],
    ),
    Row(
        123,
        "An error is JSON, whatever its text.",
        [of("pitfalls/test_security", "f123_an_error_with_quotes_and_newlines_in_it_is_valid_json_over_every_door")],
    ),
    Row(
        124,
        "Seeds hold preconditions, never results.",
        [
            of(
                "pitfalls/test_testing",
                "f124_no_result_can_be_seeded_because_tasks_are_filed_open_and_closed_by_moves_alone",
            )
        ],
    ),
    Row(
        125,
        "Each run begins with nothing of the one before.",
        [of("pitfalls/test_testing", "f125_a_second_story_finds_nothing_of_the_first")],
    ),
    Row(
        126,
        "Nothing is always true, skipped in silence, expected to fail, or waited for by sleeping.",
        [
            of(
                "pitfalls/test_testing",
                "f126_no_assertion_is_always_true",
                "f126_no_test_is_a_placeholder",
                "f126_nothing_is_skipped_without_a_reason_and_nothing_is_expected_to_fail",
                "f126_no_test_sleeps",
            )
        ],
    ),
    Row(
        127,
        "First seen at work, then interfered with.",
        [of("pitfalls/test_testing", "f127_a_scenario_interferes_only_with_what_it_has_seen_at_work")],
    ),
    Row(
        128,
        "Pages are tested by what people see and screen readers hear, not by ids or styles that change.",
        [
            of("browser/test_views", "the_main_way_needs_no_pointer"),
            of(
                "browser/test_board",
                "a_card_that_is_carried_to_in_progress_is_worked_on_and_seen_done_without_reload",
            ),
        ],
    ),
    Row(
        129,
        "All logs of a run are in one place, with one timeline.",
        [
            of(
                "pitfalls/test_processes",
                "f129_one_directory_has_every_components_log_the_database_and_a_timeline_to_tell",
            )
        ],
    ),
    Row(
        130,
        "A scripted agent does the same every time.",
        [of("pitfalls/test_testing", "f130_the_same_story_has_the_same_events_every_time")],
    ),
    Row(
        131,
        "Catalogues are generated; no number of tools is written down.",
        [
            of("pitfalls/test_testing", "f131_no_test_counts_tools_by_hand_and_the_reference_is_generated"),
            of("documents/test_pages", "the_reference_is_what_the_code_says"),
        ],
    ),
    Row(
        132,
        "A harness begins clean, and nothing of the machine decides what it sees.",
        [of("pitfalls/test_testing", "f132_a_site_has_nothing_of_the_machine_it_runs_on")],
    ),
    Row(
        133,
        "A claim is one act: two pollers never get one task.",
        [
            of("pitfalls/test_queues", "f133_of_a_hundred_tasks_each_is_claimed_once_by_twenty_pollers_at_two_servers"),
            of(
                "operations/test_queue",
                "a_hundred_tasks_and_twenty_pollers_and_each_task_is_claimed_once",
                "at_most_fifty_claims_at_once",
            ),
            of("cli/test_queues", "three_agents_share_thirty_tasks_and_each_is_done_once"),
        ],
    ),
    Row(
        134,
        "A claim is a lease; what is lost goes to the next, and after the last attempt it is a dead letter.",
        [
            of(
                "pitfalls/test_queues",
                "f134_a_task_whose_workers_all_die_goes_from_one_to_the_next_and_is_then_a_dead_letter",
            ),
            of(
                "operations/test_queue",
                "a_claim_that_runs_out_goes_to_another_with_the_next_attempt_and_a_late_result_is_refused",
                "a_dead_letter_that_is_put_back_has_all_its_attempts_again",
                "a_process_that_crashes_gives_its_queue_task_back_and_the_attempt_counts",
            ),
            of("cli/test_queues", "the_task_of_an_agent_that_is_killed_goes_to_another_with_the_next_attempt"),
        ],
    ),
    Row(
        135,
        "A circle of dependencies is refused when it would be closed, and named.",
        [
            of(
                "pitfalls/test_queues",
                "f135_tasks_of_queues_that_would_wait_for_each_other_are_refused_on_every_path",
            ),
            of("operations/test_queue_bad_input", "a_circle_of_dependencies_is_refused_and_named"),
        ],
    ),
    Row(
        136,
        "A result is taken once, from whoever holds the task, in the present attempt.",
        [
            of(
                "operations/test_queue_bad_input",
                "of_two_results_the_first_one_stands",
                "a_result_from_another_agent_is_refused",
                "a_result_for_an_attempt_that_is_not_the_present_one_is_refused",
                "a_result_without_a_claim_is_refused",
            ),
            of(
                "operations/test_queue",
                "a_claim_that_runs_out_goes_to_another_with_the_next_attempt_and_a_late_result_is_refused",
                "what_a_person_takes_out_of_its_holders_hands_takes_no_result_of_that_attempt",
            ),
        ],
    ),
    Row(
        137,
        "While server or Redis is away nothing is lost, and it recovers by itself.",
        [
            of(
                "operations/test_shared_state",
                "while_redis_is_away_tasks_and_results_go_on_and_shared_values_say_so",
            ),
            of(
                "storage/test_shared",
                "while_redis_is_away_every_call_is_refused_at_once_and_then_it_recovers_by_itself",
            ),
            of("bus/test_remote", "a_lost_connection_is_made_again_and_everybody_looks"),
            of(
                "client/test_queue_agent",
                "a_server_that_is_not_there_is_tried_five_more_times_and_then_a_clear_error",
                "a_result_is_kept_through_an_outage_which_is_told_and_handed_in_once",
            ),
            of("cli/test_queues", "a_server_that_is_killed_and_comes_back_loses_no_task_and_no_result"),
        ],
    ),
    Row(
        138,
        "Shared values have versions; what has expired says so.",
        [
            of(
                "storage/test_shared",
                "of_two_who_expect_the_same_version_one_is_refused",
                "what_has_expired_is_remembered_and_its_version_goes_on",
            ),
            of(
                "operations/test_shared_state",
                "a_value_that_another_one_has_changed_meanwhile_is_not_overwritten",
                "what_is_forgotten_is_only_what_expired_long_ago",
            ),
        ],
    ),
    Row(
        139,
        "Who is silent is offline; what is known of it by heartbeats goes back; the same id continues.",
        [
            of(
                "operations/test_queue",
                "silence_makes_an_agent_offline_and_releases_only_whom_heartbeats_were_known_of",
                "whom_nobody_has_heard_of_for_ninety_seconds_is_offline_to_whoever_asks_first",
                "registering_again_continues",
                "a_heartbeat_renews_a_claim_for_a_day_at_most",
            ),
        ],
    ),
    Row(
        140,
        "A task that nobody will fetch says so.",
        [
            of("operations/test_queue", "a_task_whose_queue_has_no_agent_says_so_after_the_stall_time"),
            of(
                "operations/test_queue",
                "a_manager_waits_for_a_queue_task_only_while_its_type_has_an_agent_and_is_woken",
            ),
        ],
    ),
    Row(
        141,
        "What waits for a task that has failed is flagged, and whoever filed it hears of it.",
        [of("operations/test_queue", "what_waits_for_a_task_that_has_failed_is_flagged_and_whoever_asks_hears_it")],
    ),
    Row(
        142,
        "Every tool of queues wants a key; only an orchestrator files.",
        [
            of("pitfalls/test_queues", "f142_every_tool_of_queues_wants_a_key_also_those_that_come"),
            of(
                "operations/test_queue_bad_input",
                "every_queue_tool_refuses_no_key_a_wrong_one_and_a_revoked_one",
                "no_other_credential_opens_a_queue_tool",
                "only_an_orchestrator_files_tasks",
                "an_id_that_another_key_is_bound_to_is_not_taken_over",
            ),
        ],
    ),
    Row(
        143,
        "Who is told to end finishes its task, takes no other, and says that it leaves.",
        [
            of(
                "client/test_queue_agent",
                "who_is_to_stop_finishes_its_task_hands_it_in_takes_no_other_and_goes_offline",
                "who_waits_for_a_task_stops_at_once",
            ),
            of("cli/test_queues", "told_to_end_it_finishes_its_task_takes_no_other_and_is_offline"),
            of("operations/test_queue", "leaving_puts_back_what_is_not_finished_at_once"),
        ],
    ),
)
