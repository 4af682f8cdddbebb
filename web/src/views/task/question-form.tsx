// What an agent asks, as one form: the options of each question, words of one's own, and one button for all. A single
// question with one choice is answered by a click on it, or by its number.
import { useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";

import { answerQuestions, withdrawQuestion } from "@/api/actions";
import type { Question } from "@/api/model";
import { useKeys } from "@/app/keys";
import { useWrites } from "@/app/may";
import { DraftLine, useDraft } from "@/drafts";
import { useTranslation } from "@/i18n/use-words";
import { Ago, Badge, Button, Confirm, Form, Prose, TextArea, useToast, visible } from "@/ui";

interface Given {
  choices: string[];
  text: string;
}
/** By question. */
type Answers = Record<string, Given>;
const NOTHING: Given = { choices: [], text: "" };

const isGiven = ({ choices, text }: Given) => choices.length > 0 || text.trim() !== "";

export function QuestionForm({ taskId, questions, keys = false }: QuestionFormProps) {
  const { t } = useTranslation("task");
  const writes = useWrites();
  const client = useQueryClient();
  const toast = useToast();
  const [given, write, draft] = useDraft<Answers>(`questions ${taskId}`, {}, { quiet: true });
  const [busy, setBusy] = useState(false);
  const of = (question: Question) => given[question.question_id] ?? NOTHING;
  const single = questions.length === 1 && isOneClick(questions[0]) ? questions[0] : undefined;
  useKeys(
    keys && writes && single !== undefined
      ? single.options.slice(0, 9).map((option, place) => ({
          key: String(place + 1),
          words: t("asked.key"),
          run: () => void choose(single, option),
        }))
      : [],
  );

  async function send(answers: Answers) {
    setBusy(true);
    try {
      await answerQuestions(
        taskId,
        questions.map(({ question_id }) => {
          const { choices, text } = answers[question_id] ?? NOTHING;
          return { question_id, choices, text: text.trim() || null };
        }),
      );
      draft.done();
      toast.done(t("asked.sent"));
    } catch (error) {
      toast.failed(error);
    } finally {
      await again();
      setBusy(false);
    }
  }

  const again = () =>
    Promise.all([["overview"], ["questions"]].map((queryKey) => client.invalidateQueries({ queryKey })));

  function choose(question: Question, option: string) {
    return busy ? undefined : send({ [question.question_id]: { ...of(question), choices: [option] } });
  }

  async function withdraw(question: Question) {
    await withdrawQuestion(question.question_id);
    toast.done(t("asked.withdrawn"));
    await again();
  }

  if (!writes)
    return (
      <div className="space-y-2">
        {questions.map((each) => (
          <Asked key={each.question_id} question={each}>
            <ul className="list-inside list-disc text-soft">
              {each.options.map((option) => (
                <li key={option}>{visible(option)}</li>
              ))}
            </ul>
          </Asked>
        ))}
        <p className="text-xs text-faint">{t("asked.readOnly")}</p>
      </div>
    );
  /** Changes cannot be requested without saying which. */
  const isWordless = (question: Question) => question.review && of(question).text.trim() === "";
  const ready = questions.every((each) => isGiven(of(each)));
  return (
    <Form className="space-y-3" data-questions={taskId} onSend={() => void (ready && !busy && send(given))}>
      <DraftLine draft={draft} />
      {questions.map((each) => (
        <Asked key={each.question_id} question={each} withdraw={each.review ? undefined : () => withdraw(each)}>
          {each === single ? (
            <OptionButtons
              question={each}
              busy={busy}
              keys={keys}
              needsText={isWordless(each)}
              choose={(option) => void choose(each, option)}
            />
          ) : (
            <Options
              question={each}
              chosen={of(each).choices}
              onChange={(choices) =>
                write((known) => ({
                  ...known,
                  [each.question_id]: { ...(known[each.question_id] ?? NOTHING), choices },
                }))
              }
            />
          )}
          {each.free_text && (
            <TextArea
              label={t(each.review ? "asked.changes" : each.options.length > 0 ? "asked.own" : "asked.answer")}
              bare={each.options.length === 0}
              rows={2}
              maxLength={10_000}
              placeholder={each.options.length === 0 ? (each.default ?? "") : ""}
              value={of(each).text}
              onChange={(text) =>
                write((known) => ({ ...known, [each.question_id]: { ...(known[each.question_id] ?? NOTHING), text } }))
              }
            />
          )}
        </Asked>
      ))}
      {(single === undefined || (single.free_text && !single.review)) && (
        <Button type="submit" look="primary" className="h-10 w-full sm:h-8 sm:w-auto" disabled={!ready || busy}>
          {t(questions.length > 1 ? "asked.sendAll" : "asked.send")}
        </Button>
      )}
    </Form>
  );
}

interface QuestionFormProps {
  taskId: string;
  questions: Question[];
  /** The numbers are its keys. */
  keys?: boolean;
}

/** Whether choosing an option is the whole answer. */
const isOneClick = (question: Question | undefined) =>
  question !== undefined && question.options.length > 0 && !question.multiple;

interface AskedProps {
  question: Question;
  withdraw?: (() => Promise<unknown>) | undefined;
  children: React.ReactNode;
}

/** The words of a question, and until when it can be answered. */
function Asked({ question, withdraw, children }: AskedProps) {
  const { t } = useTranslation("task");
  const [sure, ask] = useState(false);
  return (
    <fieldset className="min-w-0 space-y-2 rounded-lg border border-line bg-panel p-3">
      <legend className="sr-only">{visible(question.question)}</legend>
      <Prose text={question.question} className="max-h-72 overflow-auto" />
      {question.review_task_id !== null && <p className="text-xs text-soft">{t("asked.byAgent")}</p>}
      {children}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-faint">
        {question.multiple && <span>{t("asked.several")}</span>}
        {question.default !== null && (
          <span className="break-words">
            {t(question.deadline === null ? "asked.default" : "asked.defaultAt", {
              default: visible(question.default),
            })}
          </span>
        )}
        {question.overdue ? (
          <Badge tone="amber">{t("asked.overdue")}</Badge>
        ) : (
          question.deadline !== null && (
            <span>
              {t("asked.until")} <Ago at={question.deadline} />
            </span>
          )
        )}
        {withdraw !== undefined && (
          <Button small look="quiet" className="ml-auto" onClick={() => ask(true)}>
            {t("asked.withdraw")}
          </Button>
        )}
      </div>
      {withdraw !== undefined && (
        <Confirm
          open={sure}
          title={t("asked.withdrawAsk")}
          action={t("asked.withdraw")}
          onConfirm={withdraw}
          onClose={() => ask(false)}
        >
          {t("asked.withdrawText")}
        </Confirm>
      )}
    </fieldset>
  );
}

interface OptionButtonsProps {
  question: Question;
  busy: boolean;
  /** The numbers are its keys. */
  keys: boolean;
  /** All but the first option say nothing without words of one's own. */
  needsText: boolean;
  choose: (option: string) => void;
}

/** One click answers. */
function OptionButtons({ question, busy, keys, needsText, choose }: OptionButtonsProps) {
  return (
    <div className="flex flex-col gap-1.5 sm:flex-row sm:flex-wrap">
      {question.options.map((option, place) => (
        <Button
          key={option}
          look={option === question.default ? "primary" : "plain"}
          wraps
          className="max-w-full"
          disabled={busy || (needsText && place > 0)}
          onClick={() => choose(option)}
        >
          {keys && place < 9 && (
            <kbd
              aria-hidden
              className="mr-1.5 hidden rounded border border-current px-1 text-[11px] opacity-75 sm:inline"
            >
              {place + 1}
            </kbd>
          )}
          <span className="min-w-0">{visible(option)}</span>
        </Button>
      ))}
    </div>
  );
}

interface OptionsProps {
  question: Question;
  chosen: string[];
  onChange: (chosen: string[]) => void;
}

/** Radio buttons for one, boxes for several. */
function Options({ question, chosen, onChange }: OptionsProps) {
  const name = useId();
  return (
    <div className="space-y-0.5">
      {question.options.map((option) => (
        <label key={option} className="flex min-h-10 items-center gap-2 sm:min-h-7">
          <input
            type={question.multiple ? "checkbox" : "radio"}
            name={name}
            className="size-4 shrink-0 accent-[var(--accent)]"
            checked={chosen.includes(option)}
            onChange={({ target }) => {
              if (!question.multiple) onChange([option]);
              else onChange(target.checked ? [...chosen, option] : chosen.filter((each) => each !== option));
            }}
          />
          <span className="min-w-0 break-words">{visible(option)}</span>
        </label>
      ))}
    </div>
  );
}
