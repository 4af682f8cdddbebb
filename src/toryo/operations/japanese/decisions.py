# ruff: noqa: E501 - texts: their lines break where sentences do
"""Why an agent runs or not, what it does, what holds a task and what would release it, in Japanese."""

from __future__ import annotations

TEXTS: dict[str, str] = {
    # launches/explanations: the reasons of the launch tables
    "The project is paused; nothing starts in it. Resume it: toryo project resume {project_id}": "プロジェクトは一時停止中のため、何も起動しません。"
    "再開してください: toryo project resume {project_id}",
    "The agent is not a member of the project. Add it:"
    " toryo agent edit {agent_id} --project {project_id}": "このエージェントはプロジェクトのメンバーではありません。"
    "追加してください: toryo agent edit {agent_id} --project {project_id}",
    "The agent is inactive. Activate it: toryo agent activate {agent_id}": "このエージェントは無効です。"
    "有効にしてください: toryo agent activate {agent_id}",
    "Nobody starts this agent: it has no provider.": "プログラムが設定されていないため、このエージェントは自動では起動されません。",
    "Its options have a mistake, so it is not started. toryo agent show {agent_id} names it. Correct it:"
    " toryo agent edit {agent_id} --option NAME=VALUE": "オプションに誤りがあるため、起動しません。"
    "内容は toryo agent show {agent_id} で確認できます。"
    "次のコマンドで直してください: toryo agent edit {agent_id} --option NAME=VALUE",
    "Its main task was taken out of its hands; its process is being stopped.": "メインタスクが担当から外れたため、"
    "プロセスを停止しています。",
    "A guard stopped it: it called without getting anywhere.": "呼び出しを続けても進展がなかったため、ガードが停止しました。",
    "It has run longer than one launch may.": "1 回の起動で動ける時間を超えました。",
    "Its process is alive but has neither called nor printed for too long.": "プロセスは生きていますが、"
    "呼び出しも出力もない状態が長く続いています。",
    "Today's budget is used up. It goes on at midnight (UTC), or as soon as the budget is raised: "
    "toryo project edit {project_id} --set budget_per_day=N": "今日の予算を使い切りました。UTC の午前 0 時、または予算を上げるとすぐに再開します: "
    "toryo project edit {project_id} --set budget_per_day=N",
    "It has blocked tasks, and none in progress.": "ブロックされた担当タスクがあり、進行中のものはありません。",
    "“{title}” is blocked: {reason}": "「{title}」はブロックされています: {reason}",
    "First: {command}": "まず: {command}",
    "To unblock it: toryo task move {task_id} in_progress": "ブロックを解除するには: toryo task move {task_id} in_progress",
    "Give it a command, then unblock it.": "コマンドを指定してから、ブロックを解除してください。",
    "The same plan ends in the same way: change the task or the plan, then unblock it.": "同じ計画では同じ結果になります。"
    "タスクか計画を変えてから、ブロックを解除してください。",
    "The same task ends in the same way: remove the cause or change the task, then unblock it.": "同じタスクでは同じ結果になります。"
    "原因を取り除くかタスクを変えてから、ブロックを解除してください。",
    "It is running, or was started and is about to sign in.": "実行中、または起動されてサインインするところです。",
    "Its start was ordered; its process has not signed in yet.": "起動を指示しましたが、プロセスはまだサインインしていません。",
    "A session of {agent} still lives on its task. It ends when {agent} leaves, or after the grace time."
    " At once: toryo sessions --end {session}": "このタスクでは {agent} のセッションがまだ続いています。"
    "{agent} が離れるか、猶予時間が過ぎると終わります。すぐに終わらせるには: toryo sessions --end {session}",
    "Another agent's session still lives on its task.": "このタスクでは、別のエージェントのセッションがまだ続いています。",
    "It waits, and something below it is blocked or has failed: it is started to decide.": "待機中ですが、"
    "下位のタスクがブロックされたか失敗したため、判断のために起動します。",
    "It waits, and something new needs it: it is started.": "待機中ですが、新しく対応すべきことがあるため、起動します。",
    "It waits, and nothing is outstanding any more: it is started.": "待っていたものがすべて片付いたため、起動します。",
    "It waits, and has seen the block that is left open.": "残っているブロックは確認済みで、待機しています。",
    "It waits for those who work below it.": "下位のエージェントの作業を待っています。",
    "It waits for a delegation.": "委任の結果を待っています。",
    "It waits for an approval.": "承認を待っています。",
    "It waits for a person.": "人の対応を待っています。",
    "Internal error, see the server's log.": "内部エラーです。サーバーのログを確認してください。",
    "It has a task in progress: it is started as soon as a Coordinator has a free slot.": "進行中のタスクがあります。"
    "コーディネーターに空きができしだい起動します。",
    "No task of its own is in progress.": "進行中の担当タスクがありません。",
    "It has none to start. Give it one: toryo task add TITLE --project {project_id} --assignee {agent_id}"
    " --status in_progress": "開始できるものもありません。次のコマンドで割り当ててください: "
    "toryo task add TITLE --project {project_id} --assignee {agent_id} --status in_progress",
    "“{title}” has failed. To try it once more: toryo task retry {task_id}": "「{title}」は失敗しました。"
    "もう一度試すには: toryo task retry {task_id}",
    "“{title}” ({status}) cannot be started yet: {why}": "「{title}」（{status}）はまだ開始できません: {why}",
    "“{title}” is {status}. To start it: toryo task move {task_id} in_progress": "「{title}」は {status} です。"
    "開始するには: toryo task move {task_id} in_progress",
    "{who} has “{title}”": "{who} が「{title}」を担当しています",
    "{names}.": "{names}。",
    "{names} can approve “{title}”: toryo task approve {task_id}": "{names} が「{title}」を承認できます: toryo task approve {task_id}",
    "Start its process by hand, or: toryo agent edit {agent_id} --provider NAME": "プロセスを手で起動するか、"
    "プロバイダーを設定してください: toryo agent edit {agent_id} --provider NAME",
    "Nobody wants to talk to it.": "話しかけている相手はいません。",
    "A task of its queue is ready: it is started as soon as a Coordinator has a free slot.": "担当するキューに、"
    "開始できるタスクがあります。コーディネーターに空きができしだい起動します。",
    "Somebody wants to talk to it: it is started as soon as a Coordinator has a free chat slot.": "話しかけている相手がいます。"
    "コーディネーターのチャット枠に空きができしだい起動します。",
    "It should be started, and no Coordinator can: {obstacle}": "起動すべきですが、起動できるコーディネーターがありません。{obstacle}",
    "(stopping)": "（停止しています）",
    "{program} stands in: {why}.": "代わりに {program} が動きます（{why}）。",
    "It cools down, because {why}, and is started again by itself."
    " Once the cause is fixed, `toryo agent resume {agent_id}` starts it sooner.": "休止中です（{why}）。時間がたつと自動で再び起動します。"
    "原因を取り除いたら、`toryo agent resume {agent_id}` ですぐに再開できます。",
    "The last start: {said}": "前回の起動: {said}",
    "It is a person: nobody starts people.": "人なので、起動されることはありません。",
    "Nobody starts it: its own program serves the queue {queue}.": "起動されることはありません。自分のプログラムでキュー {queue} の仕事をします。",
    # launches/explanations: failures, to stand in brackets
    "the quota of its account is used up": "アカウントの割り当てを使い切りました",
    "the quota of the account {account} is used up": "アカウント {account} の割り当てを使い切りました",
    "its model's service said: too many requests": "モデルのサービスから、要求が多すぎると返されました",
    "its model's service failed or did not answer": "モデルのサービスが失敗したか、応答しませんでした",
    "its program is not logged in on that machine": "そのマシンでプログラムがログインしていません",
    "its model is not available": "モデルを利用できません",
    "its program was not found": "プログラムが見つかりません",
    "its program or its options are not set up rightly": "プログラムかそのオプションの設定に誤りがあります",
    "its process did not sign in": "プロセスがサインインしませんでした",
    "its model answered more often than it may in one run": "1 回の起動で許される応答の回数を超えました",
    "its process printed without end": "プロセスの出力が止まりませんでした",
    "its process ran longer than it may": "プロセスが制限時間を超えました",
    "its process was killed": "プロセスが強制終了されました",
    "its process failed": "プロセスが異常終了しました",
    "it called again and again without getting anywhere": "進展のない呼び出しを繰り返しました",
    "its process was alive but neither called nor printed": "プロセスは生きていましたが、呼び出しも出力もありませんでした",
    "it left without reporting": "報告せずに終了しました",
    "it left while somebody was waiting for its answer": "相手が返事を待っている間に終了しました",
    "it failed ({failure})": "失敗しました（{failure}）",
    # launches/explanations: what an agent does
    "says which model it is": "モデルを報告しています",
    "reads what has changed": "変更点を確認しています",
    "reads its task": "タスクを読んでいます",
    "breaks its task down": "タスクを分割しています",
    "works on its task": "タスクに取り組んでいます",
    "starts its next subtask": "次のサブタスクを始めています",
    "works on a subtask": "サブタスクに取り組んでいます",
    "reports that all is done": "完了を報告しています",
    "waits for an answer": "返事を待っています",
    "waits for others": "ほかのエージェントを待っています",
    "waits for messages": "メッセージを待っています",
    "reads its messages": "メッセージを読んでいます",
    "looks at what is blocked or has failed": "ブロックや失敗を調べています",
    "looks why nothing can be started": "何も開始できない理由を調べています",
    "looks at the situation": "状況を確認しています",
    "assigns and starts tasks": "タスクを割り当て、開始しています",
    "changes the plan": "計画を見直しています",
    "leaves until others are done": "ほかの作業が終わるまで退出します",
    "leaves": "退出しています",
    # launches/placement - what a Coordinator lacks
    "none has called for 90 s. Start one: toryo coordinator (toryo up brings one).": "90 秒以上、どれからも連絡がありません。"
    "起動してください: toryo coordinator（toryo up でも起動します）",
    "its program {provider} is missing at {names} (there: {have}). Install it there, or give the agent"
    " another: toryo agent edit {agent_id} --provider NAME": "プログラム {provider} が {names} にありません（あるもの: {have}）。"
    "そこに導入するか、別のプログラムを指定してください: toryo agent edit {agent_id} --provider NAME",
    "the files of {names} name other agents only. Add agents.{agent_id} there, or leave agents: out.": "{names} の設定ファイルには、"
    "ほかのエージェントしか書かれていません。agents.{agent_id} を加えるか、agents: を省いてください。",
    "{names} takes only agents with one of the capabilities {wanted}. Give it one: toryo agent edit {agent_id}"
    " --capability WORD, or change capabilities: in the Coordinator's file.": "{names} は、能力 {wanted} のいずれかを持つ"
    "エージェントだけを受け持ちます。能力を加えるか（toryo agent edit {agent_id} --capability WORD）、"
    "コーディネーターの設定ファイルの capabilities: を変えてください。",
    "it asks for a machine with the label {label}, which {names} does not offer. Add it to labels: in the"
    " Coordinator's file where that is true, or take it out of the agent's provider_options.labels.": "ラベル {label} の付いた"
    "マシンが必要ですが、{names} にはありません。該当するコーディネーターの設定ファイルの labels: に加えるか、"
    "エージェントの provider_options.labels から外してください。",
    # worktrees/file_locks: in whose hands a task's files are
    "{asked_by} has asked to {kind} its work ({errand_id}): it starts when that is done.": "{asked_by} が成果の{kind}を"
    "依頼しています（{errand_id}）。それが終わると起動します。",
    "Its work is on the machine of Coordinator {coordinator_id}, which is there and starts it.": "作業ファイルは"
    "コーディネーター {coordinator_id} のマシンにあり、そこで起動します。",
    "It builds on task {task_id}, whose process ({agent_id}) is just leaving: it starts then.": "タスク {task_id} の成果を使います。"
    "そのプロセス（{agent_id}）が終了するところで、終わると起動します。",
    # overview/team_status
    "This person is inactive.": "この人は無効になっています。",
    # overview/queue_status: what holds a task, and what would release it
    "No reason was given.": "理由は示されていません。",
    "Whoever blocked it": "ブロックした人",
    "{who}, a person, or somebody above unblocks it.": "{who}、人、または上位の担当者によるブロックの解除。",
    "An attempt was lost: it rests before the next one.": "試行が途中で失われたため、次の試行まで間を置いています。",
    "Time alone, at {time}.": "時間の経過のみ（{time}）。",
    "Time alone, at {time}; or a person, as said.": "時間の経過（{time}）、または上記のとおり人による対応。",
    "Nobody serves the queue {queue}.": "キュー {queue} を担当するエージェントがいません。",
    "An agent for {queue}: one that polls, or that a Coordinator starts.": "{queue} を担当するエージェント"
    "（自ら取りに来るもの、またはコーディネーターが起動するもの）。",
    "Nobody works on it.": "誰も取り組んでいません。",
    "A person, as said: toryo why ID names the row.": "上記のとおり、人による対応（toryo why ID で規則の行を確認できます）。",
    "Resuming the project.": "プロジェクトの再開。",
    "Activating the agent, or giving the task to another.": "エージェントを有効にするか、別の担当への割り当て。",
    "Adding the agent to the project, or giving the task to another.": "エージェントをプロジェクトに加えるか、別の担当への割り当て。",
    "Correcting the options of its agent (toryo agent show ID names the mistakes).": "エージェントのオプションの修正（誤りは toryo agent show ID で確認できます）。",
    "Starting its process by hand, or giving the agent a provider.": "プロセスを手で起動するか、エージェントへのプログラムの設定。",
    "Whoever unblocks what is blocked below it.": "下位のブロックの解除。",
    "The end of the other agent's session.": "別のエージェントのセッションの終了。",
    "A Coordinator that can start this agent.": "このエージェントを起動できるコーディネーター。",
    "Its agent, once it is started.": "担当エージェントの起動。",
    "“{title}” ({status})": "「{title}」（{status}）",
    "“{title}”": "「{title}」",
    "The completion of {names}.": "{names} の完了。",
    "The completion of {names} and {more} more.": "{names} ほか {more} 件の完了。",
    "The end of {names}, or another assignee.": "{names} の終了、または別の担当への割り当て。",
    "Nothing but trying “{title}” again.": "「{title}」の再試行のみ。",
    "The approval of a person above its assignee.": "担当者より上位の人の承認。",
    "An assignee, or a queue.": "担当者、またはキューの指定。",
    "Activating its assignee or adding it to the project, or another one.": "担当者を有効にするかプロジェクトに加える、"
    "または別の担当への割り当て。",
    # workflow/launch: the rows themselves
    "project paused (or archived): stop if a task session is live (pause_grace after the pause)": "プロジェクトが一時停止中"
    "（またはアーカイブ済み）: タスクのセッションが続いていれば停止（一時停止から pause_grace 後）",
    "project paused (or archived): else hold": "プロジェクトが一時停止中（またはアーカイブ済み）: それ以外は保留",
    "not a member: stop if a task session is live (stop_grace after the cause)": "メンバーではない: "
    "タスクのセッションが続いていれば停止（原因から stop_grace 後）",
    "not a member: else hold": "メンバーではない: それ以外は保留",
    "inactive: stop if a task session is live (stop_grace after the cause)": "無効: "
    "タスクのセッションが続いていれば停止（原因から stop_grace 後）",
    "inactive: else hold": "無効: それ以外は保留",
    "not managed (a live session started by hand goes on)": "自動では起動しない（手で始めたセッションは続く）",
    "its options have a mistake (a live session goes on)": "オプションに誤りがある（実行中のセッションは続く）",
    "live session whose main task is not its own any more, stop_grace after the cause": "セッションのメインタスクが"
    "担当から外れた（原因から stop_grace 後）",
    "tripped the runaway guard": "暴走のガードに触れた",
    "its time limit": "制限時間に達した",
    "or the budget": "予算に達した",
    "or is silent": "応答がない",
    "blocked tasks and none in progress, and no queue task is ready for it": "ブロックされたタスクがあり、進行中のタスクも、"
    "開始できるキューのタスクもない",
    "a live task session": "タスクのセッションが続いている",
    "a launch not yet signed in": "起動したがまだサインインしていない",
    "cooling down after failures or a quota message": "失敗または割り当て切れの後の休止中",
    "the budget is used up": "予算を使い切った",
    "another agent's session still lives on it (just reassigned)": "別のエージェントのセッションがまだ続いている"
    "（割り当て直後）",
    "it waits, and a descendant is blocked or failed, and that is new": "待機中に、下位のタスクが新たにブロックまたは失敗した",
    "it waits, and something new needs it": "待機中に、新しく対応すべきことがある",
    "it waits, and nothing is outstanding": "待機中で、待つものが残っていない",
    "it waits, and a seen block is left open": "待機中で、確認済みのブロックが残っている",
    "it waits: what is outstanding, workers first": "待機中: 残っているもの。まずワーカー",
    "it waits: then a delegation": "待機中: 次に委任",
    "it waits: then an approval": "待機中: 次に承認",
    "it waits: then a person": "待機中: 最後に人",
    "a worker's: it left to wait for a delegation that is still open, or can only be told to": "ワーカーのもの: "
    "まだ終わらない委任を待つために退出した、または待つほかない",
    "a worker's: all it could be told is wait_for_others": "ワーカーのもの: ほかを待つほかない（wait_for_others）",
    "a main task": "メインタスクがある",
    "it serves a queue and a task there is ready, on which it would not only be told to wait (as in row 12a)": "キューを担当し、"
    "開始できるタスクがあり、そこで待つように指示されるだけではない (行 12a と同じ条件)",
    "always": "いつでも",
    "not a member, and a chat session is live": "メンバーではなく、チャットのセッションが続いている",
    "not a member": "メンバーではない",
    "inactive, and a chat session is live": "無効で、チャットのセッションが続いている",
    "inactive": "無効",
    "live session that tripped the runaway guard": "セッションが暴走のガードに触れた",
    "live session that is silent": "セッションの応答がない",
    "not managed": "自動では起動しない",
    "its options have a mistake": "オプションに誤りがある",
    "a chat launch or session is live": "チャットの起動またはセッションが続いている",
    "the project is archived": "プロジェクトがアーカイブ済み",
    "chat is in cooldown after failures": "失敗の後、チャットが休止中",
    "a message not delivered, a pending delegation, an invitation, its turn in a conversation, or an opened panel": "未配信の"
    "メッセージ、待っている委任、招待、会話での自分の番、または開かれたチャットがある",
    "always (no chat work)": "いつでも（チャットの用事がない）",
}
