# ruff: noqa: E501 - texts: their lines break where sentences do
"""What needs a person, in Japanese."""

from __future__ import annotations

TEXTS: dict[str, str] = {
    "Internal error: {what}": "内部エラー: {what}",
    "Internal error, see the server's log ({where}; {times} times).": "内部エラーです。サーバーのログを確認してください（{where}、{times} 回）。",
    "To approve: {title}": "承認待ち: {title}",
    "{asker} asks for it; {assignee} would do it.": "{asker} の依頼です。担当は {assignee} です。",
    "{asker} asks for it, for {person}; {assignee} would do it.": "{person} のための {asker} の依頼です。担当は {assignee} です。",
    "It runs {commands}.": "実行されるコマンド: {commands}。",
    "Context: {context}": "コンテキスト: {context}",
    "Description: {description}": "説明: {description}",
    "Stopped by a guard: {title}": "ガードが停止: {title}",
    "Blocked: {title}": "ブロック: {title}",
    "{who}: {reason}": "{who}: {reason}",
    "Dead letter: {title}": "処理不能: {title}",
    "Failed: {title}": "失敗: {title}",
    "To review: {title}": "レビュー待ち: {title}",
    "Files changed: {files} (+{added} −{removed}), on branch {branch}.": "{files} ファイルを変更（+{added} −{removed}）、"
    "ブランチ {branch}。",
    "Stalled: {title}": "停滞: {title}",
    "Parts of it could be started, and nobody starts them.": "始められる部分があるのに、誰も始めていません。",
    "Stuck: {title}": "進行不能: {title}",
    "Stuck: {title} and {more} more": "進行不能: {title} ほか {more} 件",
    "The same holds for {more} more tasks.": "ほか {more} 件のタスクも同じ状態です。",
    "The same holds for one more task.": "ほか 1 件のタスクも同じ状態です。",
    "It depends on {names}, which will not be completed.": "依存先の {names} は、完了することがありません。",
    "{agent}, its assignee, is inactive.": "担当の {agent} は無効です。",
    "{agent}, its assignee, is not a member of the project.": "担当の {agent} は、このプロジェクトのメンバーではありません。",
    "An owner can activate it.": "オーナーが有効にできます。",
    "An owner can add it to the project.": "オーナーがプロジェクトに追加できます。",
    "No process of {agent}, its assignee, is signed in. Start one by hand: nothing else does, as it has no provider.": "担当の {agent} の"
    "プロセスはサインインしていません。プロバイダーがなく自動では起動しないため、手で起動してください。",
    "An owner can give it a provider.": "オーナーがプロバイダーを設定できます。",
    "It is in progress as a part of “{title}”, which is {status}: nobody works on it before that is started.": "「{title}」の一部として"
    "進行中ですが、「{title}」が {status} のため、それが開始されるまで誰も作業しません。",
    "It waits for {names}, which cannot go on either.": "{names} を待っていますが、そちらも先に進めません。",
    "It was set to failed, and what is left below it waits until it is tried again or cancelled.": "失敗に設定されました。"
    "その下に残っているものは、再試行されるか中止されるまで待ちます。",
    "and {more} more": "ほか {more} 件",
    "What had blocked it is resolved, but it could not go on then, and nobody has started it since.": "ブロックの原因は"
    "解消されましたが、その時点では再開できず、その後も誰も開始していません。",
    "Yours to do: {title}": "あなたの担当: {title}",
    "It is in progress, and you are its assignee. Filed by {creator}.": "進行中で、あなたが担当です。登録者: {creator}。",
    "{who} has written to you": "{who} からメッセージが届いています",
    "{who} does not come to read your message": "{who} があなたのメッセージを読みに来ていません",
    "({count} messages; this is the newest)": "（{count} 件のうち最新のもの）",
    "No answer from {who}: {title}": "{who} から回答がありません: {title}",
    "it was reported as failed": "失敗と報告されました",
    "Wanted: {purpose} Failed: {why}": "依頼内容: {purpose} 失敗の理由: {why}",
    "${cost:,.2f} of ${budget:,.2f}": "${budget:,.2f} のうち ${cost:,.2f}",
    "Today's budget of {project} is used up: {spent}": "{project} の今日の予算を使い切りました: {spent}",
    "No task is worked on there until {time}, or until the budget is raised.": "{time} まで、または予算を上げるまで、"
    "そこではどのタスクも進みません。",
    "{agent} cannot be started: {reason}": "{agent} を起動できません（{reason}）",
    "{agent} was stopped: {reason}": "{agent} を停止しました（{reason}）",
    "Sign-in of {agent} is locked": "{agent} のサインインはロックされています",
    "Its passkey was wrong too often from one address: nobody signs in from there until {time}.": "同じアドレスからパスキーの"
    "誤りが続きました。{time} まで、そこからはサインインできません。",
    "Its program is not logged in. Log in where its Coordinator runs, then resume it.": "プログラムがログインしていません。"
    "コーディネーターが動くマシンでログインしてから、再開してください。",
    "Its program was not found. Install it where its Coordinator runs, then resume it.": "プログラムが見つかりません。"
    "コーディネーターが動くマシンに導入してから、再開してください。",
    "Its model is not available. Give it another one, or access to this one.": "モデルを利用できません。別のモデルを指定するか、"
    "このモデルを使えるようにしてください。",
    "Its configuration has a mistake. Correct it, then resume the agent.": "設定に誤りがあります。直してから、エージェントを"
    "再開してください。",
    "It called again and again without getting anywhere.": "進展のない呼び出しを繰り返しました。",
    "It ran longer than it may.": "制限時間を超えました。",
    "It was alive, but neither called nor printed.": "プロセスは生きていましたが、呼び出しも出力もありませんでした。",
    "Its model answered more often than it may in one run.": "1 回の起動で許される応答の回数を超えました。",
    "It printed without end.": "出力が止まりませんでした。",
    "Its agent has left without reporting, again and again.": "エージェントが報告せずに退出することを繰り返しています。",
    "Its agent was started again and again, and nothing came of it.": "エージェントを繰り返し起動しましたが、進展がありません。",
}
