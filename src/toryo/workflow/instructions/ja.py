"""Instructions in Japanese; those of the origin's manager states are word for word the origin's."""

TEXTS: dict[str, str] = {
    "report_model": "report_model にプロバイダーとモデルIDを渡して呼び出してください。"
    '例: report_model(provider="{provider}", model_id="{model}")。IDが分からない場合は unknown としてください。',
    "get_notifications": "タスクの状況が変わりました。作業を続ける前に get_notifications を呼び出し、その内容に従ってください。",
    "get_task": "get_my_task を呼び出してタスク詳細を取得し、その後 get_next_action を呼び出してください。",
    "create_subtasks.worker": "タスクを2〜5個（単純なら1個）のサブタスクに分解し、create_tasks_batch を1回だけ呼び出して作成してください。"
    "順序は dependencies で指定します。上限は合計{cap}個です。作成後、必ず get_next_action を呼び出してください。追加の作成や作業の開始はまだ行わないでください。",
    "create_subtasks.optional": "大きなタスクなら create_tasks_batch を1回だけ呼び出して2〜5個のサブタスクに分解し、get_next_action を呼び出してください。"
    "単純なタスクなら、いま実行して report_completed を呼び出してください。",
    "create_subtasks.manager": "list_subordinates で部下を確認し、タスクを2〜5個のサブタスクに分解してください。create_tasks_batch を1回だけ呼び出し、"
    "それぞれの成果物を明記し、能力に応じて assignee_id を割り当て、順序は dependencies で指定します。作成後、get_next_action を呼び出してください。",
    "create_subtasks.alone": "稼働中の部下がいないため、サブタスクを実行できる人がいません。"
    'report_completed(result="blocked", summary="no_available_workers") を呼び出してください。',
    "execute_task": "タスクを実行してください。共有すべきことは save_progress に保存します。"
    "終わったら report_completed（result: success / failed / blocked、summary 付き）を呼び出してください。",
    "execute_task.answered": "委譲した依頼が終わりました。結果は delegations にあります。それを踏まえてタスクを続けてください。"
    "終わったら report_completed（result: success / failed / blocked、summary 付き）を呼び出してください。",
    "execute_task.fixing": "受け入れ確認に失敗しました: {failed}。修正してから、もう一度 "
    'report_completed(result="success") を呼び出してください。できない場合は failed または blocked で報告してください。',
    "start_subtask": '次のサブタスクを開始してください: update_task_status(task_id="{task_id}", status="in_progress")（{title}）。'
    "その後 get_next_action を呼び出してください。",
    "start_subtask.open": '次のサブタスクを開始してください: update_task_status(task_id="{task_id}", status="in_progress")（{title}）。'
    "別のセッションが作った一覧に不足があれば、先に create_tasks_batch で追加できます。",
    "execute_subtask": "サブタスク {task_id}「{title}」を実行してください（{total}件中{done}件完了）。終わったら "
    'update_task_status(task_id="{task_id}", status="completed")（できない場合は理由を付けて failed または blocked）を呼び出し、'
    "その後 get_next_action を呼び出してください。",
    "report_completion": "全てのサブタスクが完了しました。\nreport_completed を呼び出してメインタスクを完了してください。",
    "report_completion.manager": "全てのサブタスクが完了しました。\nget_recent_completions で成果を確認し、"
    "report_completed を呼び出してメインタスクを完了してください。",
    "wait_for_delegation": "委譲した依頼の結果を待っています。もう一度 get_next_action を呼び出してください（呼び出しの中で待ちます）。",
    "wait_for_delegation.leave": "委譲はまだ終わっていません。logout を呼び出してプロセスを終了してください。結果が出ると自動的に再起動されます。",
    "wait_for_others": "このタスクに必要な作業を他の担当者が実行しています。logout を呼び出してプロセスを終了してください。完了後に自動的に再起動されます。",
    "review_and_resolve_blocks.worker": "ブロックまたは失敗したサブタスクだけが残っています: {blocked}。you_may_resolve が true のものは "
    "update_task_status で todo に戻してやり直し、you_may_cancel が true で不要なものは cancel_task で中止してください。それでも進まない場合は "
    'report_completed(result="blocked", summary="理由") で報告してください。',
    "review_and_resolve_blocks.manager": "ブロック状態のサブタスクがあります: {blocked}。対処を検討してください。\n\n"
    "■ 確認\n  - list_tasks でブロック中のタスクを確認\n  - get_task で詳細とブロック理由を確認\n\n"
    "■ 対処\n  - 解除・再試行: update_task_status で todo に変更\n  - 不要: cancel_task\n"
    '  - 別の方法: create_tasks_batch（intent "new"）\n  - 対処不可: report_completed で blocked として報告',
    "review_and_resolve_blocks.hopeless": "ブロックまたは失敗したサブタスクだけが残っており、あなたが変更できるものはありません: "
    '{blocked}。report_completed(result="blocked", summary="理由") で、誰が何をする必要があるかを報告してください。',
    "resolve_dependency_deadlock.hopeless": "開始できるサブタスクがなく、あなたが変更できるものもありません: {waiting}。"
    'report_completed(result="blocked", summary="理由") で、誰が何をする必要があるかを報告してください。',
    "resolve_dependency_deadlock": "開始できるサブタスクがありません: {waiting}。update_task_dependencies で依存関係を変更するか、"
    '下書きを update_task_status で todo にするか、cancel_task で不要なものを中止するか、report_completed(result="blocked", summary="理由") で報告してください。',
    "situational_awareness": "現在の状況を確認し、次のアクションを選択してください。\n\n■ 状況確認ツール\n"
    "  - list_tasks: サブタスクの全体状況を確認\n  - get_recent_completions: 最近完了したタスクと成果を確認\n"
    "  - get_task: 特定タスクの詳細を確認\n  - list_subordinates: ワーカーの状況を確認\n\n■ 次のアクション選択\n"
    "状況を把握した上で、select_action ツールで次のアクションを選択してください:\n  - start: タスクを開始する（割当+開始）\n"
    "  - adjust: 調整を行う（振り直し、修正、ブロック対処等）\n  - wait: ワーカー完了を待機する\n\n"
    "選択後、get_next_action を呼び出して詳細指示を取得してください。",
    "start": "タスクを開始してください（いま開始可能: {ready}）。\n\n■ 手順\n1. list_tasks で開始可能なタスクを確認\n"
    "2. 未割り当ての場合: assign_task で割り当て\n3. update_task_status で in_progress に変更\n\n"
    "どのタスクを誰に割り当てるかは、内容・優先度・Worker負荷を考慮して判断してください。\n完了後、get_next_action を呼び出してください。",
    "start.alone": "稼働中の部下がいません。"
    'report_completed(result="blocked", summary="no_available_workers") を呼び出してください。',
    "adjust": "必要な調整を行ってください。\n\n■ 調整用ツール\n  - assign_task: 担当者変更・振り直し\n"
    "  - update_task: タスク内容の修正（title, description, priority）\n  - update_task_status: ステータス変更\n"
    "  - update_task_dependencies: 依存関係の変更\n  - block_task: タスクをブロック状態にする\n"
    "  - cancel_task: タスクをキャンセル\n  - create_tasks_batch: 追加タスク作成（intent を指定）\n\n■ 確認用ツール\n"
    "  - list_tasks: 全体状況確認\n  - get_task: 詳細確認\n\n"
    "調整完了後、get_next_action を呼び出してください。調整が不要なら select_action で選び直してください。",
    "wait": "Worker の完了を待つため、プロセスを終了してください。\nWorker 完了後に自動的に再起動されます。\nlogout を呼び出してください。",
    "exit": "セッションは終了しています（{reason}）。logout を呼び出し、プロセスを終了してください。",
    "exit.budget_exhausted": "今日の予算を使い切りました。タスクが終わっていれば report_completed で報告し、そうでなければ save_progress で"
    "進み具合を保存してください。その後 logout を呼び出し、プロセスを終了してください。予算ができると自動的に再起動されます。",
    "exit.time_limit": "1回のセッションで動ける時間を超えました。タスクが終わっていれば report_completed で報告し、そうでなければ "
    "save_progress で進み具合を保存してください。その後 logout を呼び出し、プロセスを終了してください。続きのために自動的に再起動されます。",
    "exit.project_paused": "プロジェクトは一時停止中です。作業はそのままにし、save_progress でメモを残し、logout を呼び出してプロセスを終了してください。"
    "再開後に自動的に再起動されます。",
    "exit.task_withdrawn": "このタスクはあなたの担当ではなくなりました（{detail}）。必要なら save_progress でメモを残し、logout を呼び出してプロセスを終了してください。",
    "exit.runaway": "呼び出しを続けても何も変わらなかったため、保護機能がこのセッションを停止しました（{detail}）。"
    '何が妨げになったかを report_completed(result="blocked", summary="理由") で報告し、プロセスを終了してください。',
    "exit.runaway.chat": "保護機能がこのチャットを停止しました（{detail}）。logout を呼び出し、プロセスを終了してください。",
    "exit.user_closed_chat": "このチャットはもう必要とされていません。logout を呼び、プロセスを終了してください。",
    "logout": "長いあいだ会話がありませんでした。logout を呼び、プロセスを終了してください。誰かが書けばまた起動されます。",
    "get_pending_messages": "あなた宛てのものがあります。get_pending_messages を呼んでください。",
    "wait_for_messages": "新しいものはありません。すぐにもう一度 get_next_action を呼んでください。待つのはその呼び出しの中です。",
    "chat.messages": "返事の要るメッセージにはそれぞれ respond_chat(message_id, content) で答えてください。",
    "chat.turn": "{partner} との会話であなたの番です({max_turns} のうち {turns})。respond_conversation_message("
    'conversation_id="{conversation_id}", content)、または end_conversation。',
    "chat.delegation_answered": "委譲 {delegation_id} は {target} の返事を待っていました。その返事が届いています。目的が果たされていれば "
    'report_delegation_completed(delegation_id="{delegation_id}", result) で報告してください。',
    "chat.delegation_to_agent": "委譲 {delegation_id}: 目的のとおり {target} と話してください。"
    'start_conversation(target_agent_id="{target}", initial_message, purpose, delegation_id="{delegation_id}") で始め、'
    "交互に続け、end_conversation で終え、結果を report_delegation_completed で報告してください。",
    "chat.delegation_to_person": "委譲 {delegation_id}: 目的の内容を {target} に伝えてください。"
    'send_message(target_agent_id="{target}", content)、その後 report_delegation_completed'
    '(delegation_id="{delegation_id}", result)。返事が要るなら、それが届いてから報告してください。',
    "chat.delegation_in_hand": "委譲 {delegation_id}({target} 宛て)がまだあなたの手元にあります。結果が分かったら "
    'report_delegation_completed(delegation_id="{delegation_id}", result) で報告してください。',
    "chat.ended": "{partner} との会話 {conversation_id} は終わりました({reason})。",
    "chat.nothing": "待っているものはありません。",
    "chat.then": "その後 get_next_action を呼んでください。",
    "delegated": "依頼をチャットセッションに登録しました。次回チャットセッション起動時に処理されます。結果はタスクの delegations に入ります。"
    "get_next_action を呼び、タスクを続けてください。",
    "get_next_action": "get_next_action を呼び出してください。",
    "signed_in": "認証されました。get_next_action を呼び出して指示に従ってください。各ステップの後に再度呼び出し、exit と言われたら終了してください。",
    "my_task": "get_next_action を呼び出すと、このタスクの進め方が示されます。タスクを完了したら report_completed を呼び出してください。",
    "my_task.chat": "これは、あなたのタスクセッションが取り組んでいるタスクです。ここでは話すだけです。get_next_action を呼び出してください。",
    "requested.pending": "登録しました。人が承認し、誰かが開始するまでバックログで待ちます。",
    "requested.approved": "登録し、承認済みです。誰かが開始するまでバックログで待ちます。",
    "no_task": "現在割り当てられたタスクはありません。get_next_action を呼び出してください。",
    "reported": "報告を受け付けました。セッションは終了しました。プロセスを終了してください。",
    "late.over": "セッションはすでに終了していたため、何も変更されていません。",
    "late.withdrawn": "このタスクはもうあなたの担当ではないため、何も変更されていません。",
    "late.kept": "summary はメモとして保存しました。",
    "late.end": "プロセスを終了してください。",
    "refused": "このプロセスを終了してください。再試行はしないでください。",
    "chosen": "アクション '{action}' が選択されました。get_next_action を呼び出して詳細指示を取得してください。",
    "updated": "タスクが更新されました",
    "unchanged": "何も変更されていません。title、description、priority のうち変えるものを指定してください。",
    "logged_out": "ログアウトしました。プロセスを終了してください。",
    "checking": "受け入れ確認を実行中です。少し待ってから、同じ引数で {tool} をもう一度呼び出してください。",
    "checks_failed.main": "受け入れ確認に失敗しました: {failed}。修正してから、もう一度 "
    'report_completed(result="success") を呼び出してください。できない場合は failed または blocked で報告してください。',
    "checks_failed.subtask": "受け入れ確認に失敗しました: {failed}。修正してから、もう一度 "
    'update_task_status(task_id, status="completed") を呼び出してください。できない場合は理由を付けて failed または blocked にしてください。',
}
