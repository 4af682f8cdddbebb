"""The texts of a filled site in both languages: titles, names, messages."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from tests.scenarios.chats import GAME, PLAYER


@dataclass(frozen=True)
class Texts:
    """`titles` of tasks and `names` of people and agents, by the id that `filled.py` gives them."""

    project: str
    about: str
    titles: dict[str, str]
    names: dict[str, str]
    description: str
    question: str
    failure: str
    line: str
    said: tuple[str, ...]
    script: dict[str, Any]
    player: dict[str, Any]
    play: str


def _script(answers: list[tuple[str, str]], wish: str, requested: str, game: dict[str, Any]) -> dict[str, Any]:
    """Answers what it knows, requests tasks that people ask for, and plays the word game."""
    return {
        "answers": [
            *({"when": when, "answer": answer} for when, answer in answers),
            {"when": wish, "request": {"title": "{{what}}", "answer": requested}},
        ],
        "otherwise": "{{text}}?",
        "conversations": [game],
        "tasks": [{"run": "true"}],
    }


_WORDS = ("りんご", "ごりら", "らっぱ", "パンダ", "だんご", "ごはん")
GAME_JA = {
    "about": r"しりとり（(?P<rounds>\d+) 回）",
    "rounds": "{{rounds}}",
    "opening": _WORDS[0],
    "replies": dict(itertools.pairwise(_WORDS)),
}
PLAYER_JA = {
    "answers": [
        {
            "when": r"(?P<partner>\S+) としりとりを (?P<rounds>\d+) 回してください",
            "answer": "{{partner}} に声をかけます。",
            "start": {
                "target_agent_id": "{{partner}}",
                "about": "しりとり（{{rounds}} 回）",
                "report": "{{partner}} の最後の言葉は「{{last}}」でした。",
            },
        }
    ],
    "otherwise": "「{{text}}」ですか？",
    "conversations": [GAME_JA],
}

TEXTS = {
    "en": Texts(
        project="Corner shop",
        about="The web shop, rebuilt for the autumn.",
        titles={
            "release": "Autumn release of the shop",
            "prices": "Show prices with tax",
            "broken": "Measure the load time of the start page",
            "search": "Make the search tolerate typos",
            "pages": "Product pages for small screens",
            "photos": "Load photos only when they scroll into view",
            "manual": "Translate the manual into Japanese",
            "gifts": "Gift cards",
            "speed": "Halve the size of the start page",
            "labels": "Print labels for parcels",
            "bank": "Pay by bank transfer",
        },
        names={"mika": "Mika", "ren": "Ren", "yui": "Yui", "kai": "Kai", "sora": "Sora", "hana": "Hana"},
        description="Keep existing features working, and write a test for each new one.\n\n"
        "- amounts are in cents\n- no new dependency\n\nDone when `pytest` passes.",
        question="Which of the two glossaries applies?",
        failure="the browser did not start",
        line="checked part",
        said=(
            "Which tests are missing for the release?",
            "Please create a task: test card payments",
        ),
        script=_script(
            [("tests are missing", "Card payments, and prices of 0. I suggest starting with card payments.")],
            r"(?i)please create a task: (?P<what>.+)",
            "I requested the task {{task_id}}. It starts when it is approved.",
            GAME,
        ),
        player=PLAYER,
        play="please play shiritori with sora for 4 rounds",
    ),
    "ja": Texts(
        project="街角の店",
        about="秋に向けて作り直すオンラインショップ。",
        titles={
            "release": "ショップの秋リリース",
            "prices": "税込価格を表示する",
            "broken": "トップページの読み込み時間を測る",
            "search": "入力ミスに強い検索にする",
            "pages": "小さい画面向けの商品ページ",
            "photos": "写真を表示範囲に入ったときに読み込む",
            "manual": "説明書を日本語に翻訳する",
            "gifts": "ギフトカード",
            "speed": "トップページの容量を半分にする",
            "labels": "荷物のラベルを印刷する",
            "bank": "銀行振込に対応する",
        },
        names={"mika": "美香", "ren": "蓮", "yui": "結衣", "kai": "海", "sora": "空", "hana": "花"},
        description="既存の機能を壊さず、新しい機能にはテストを書いてください。\n\n"
        "- 金額はセント単位\n- 新しい依存関係を追加しない\n\n`pytest` が通れば完了です。",
        question="2 つの用語集のうち、どちらを使いますか？",
        failure="ブラウザが起動しませんでした",
        line="確認済み: パート",
        said=("リリースまでに足りないテストは？", "タスクにしてください: カード決済のテスト"),
        script=_script(
            [("足りないテスト", "カード決済と、価格が 0 の場合です。まず決済から始めます。")],
            r"タスクにしてください: (?P<what>.+)",
            "タスク {{task_id}} を依頼しました。承認後に開始します。",
            GAME_JA,
        ),
        player=PLAYER_JA,
        play="sora としりとりを 4 回してください",
    ),
}
