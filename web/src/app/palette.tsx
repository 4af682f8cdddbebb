// ⌘K: everything there is to go to or do, found by a few letters; what a choice asks next is asked here, too. What is
// listed is made in `commands.ts` and `steps.ts`.
import { useQuery } from "@tanstack/react-query";
import { Command } from "cmdk";
import * as RadixDialog from "@radix-ui/react-dialog";
import { ChevronLeft, CornerDownLeft, Search } from "lucide-react";
import { useState, type KeyboardEvent } from "react";

import { agents, projects } from "@/api/queries";
import { useAgentWords } from "@/app/agent-acts";
import type { PaletteCommand, Step } from "@/app/finding";
import { show } from "@/app/overlays";
import { ListOf, Root } from "@/app/palette-lists";
import { used } from "@/app/recent";
import { useTelling } from "@/app/steps";
import { actNamed, needsWords, NOT_ASKED } from "@/app/task-acts";
import { useTranslation } from "@/i18n/use-words";
import { EscapeCloses, IconButton, Kbd } from "@/ui";

export function Palette() {
  const { t } = useTranslation();
  const [steps, setSteps] = useState<Step[]>([]);
  const [asked, setAsked] = useState("");
  const step = steps.at(-1);
  const words = step?.kind === "words" || step?.kind === "agent-words" ? step : undefined;
  const go = (next: Step[]) => {
    setSteps(next);
    setAsked("");
  };
  const choose = (command: PaletteCommand) => {
    used(command.id);
    if (command.next !== undefined) return go([...steps, command.next]);
    show(null);
    command.run?.();
  };
  const back = () => go(steps.slice(0, -1));
  return (
    <RadixDialog.Root open onOpenChange={(open) => !open && show(null)}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className="fixed inset-0 z-40 bg-black/35" />
        <RadixDialog.Content
          aria-describedby={undefined}
          className="fixed top-[10vh] left-1/2 z-50 w-[calc(100vw-1.5rem)] max-w-xl -translate-x-1/2 overflow-hidden rounded-xl border border-line bg-panel shadow-[var(--shadow)]"
        >
          <EscapeCloses onClose={() => show(null)} />
          <RadixDialog.Title className="sr-only">{t("app.search")}</RadixDialog.Title>
          <Command
            shouldFilter={false}
            label={t("app.search")}
            loop
            onKeyDown={(event: KeyboardEvent) => {
              if (event.key === "Backspace" && asked === "" && step !== undefined) back();
            }}
          >
            <div className="flex items-center gap-2.5 border-b border-line px-4">
              {step === undefined ? (
                <Search size={16} className="text-faint" aria-hidden />
              ) : (
                <IconButton label={t("palette.back")} small className="-ml-2" onClick={back}>
                  <ChevronLeft size={16} />
                </IconButton>
              )}
              {step !== undefined && <StepName step={step} />}
              <Command.Input
                value={asked}
                onValueChange={setAsked}
                placeholder={
                  step === undefined ? t("app.search") : t(words === undefined ? "palette.values" : wordsFor(words))
                }
                className="h-12 min-w-0 flex-1 bg-transparent outline-none placeholder:text-faint"
              />
              <Kbd>esc</Kbd>
            </div>
            <Command.List
              className="max-h-[56vh] overflow-y-auto p-1.5"
              onMouseDown={(event) => event.preventDefault()} // one goes on writing after a choice
            >
              {step?.kind === "words" || step?.kind === "agent-words" ? (
                <Words step={step} text={asked} />
              ) : (
                <>
                  <Command.Empty className="px-4 py-8 text-center text-soft">{t("palette.nothing")}</Command.Empty>
                  {step === undefined ? (
                    <Root asked={asked} onChoose={choose} />
                  ) : (
                    <ListOf key={steps.length} step={step} asked={asked} onChoose={choose} />
                  )}
                </>
              )}
            </Command.List>
            {step === undefined && asked === "" && (
              <p className="border-t border-line px-4 py-2 text-xs text-faint">{t("palette.hint")}</p>
            )}
          </Command>
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

type WordsStep = Extract<Step, { kind: "words" | "agent-words" }>;

function wordsFor(step: WordsStep): "palette.text" | "palette.reason" | "palette.noReason" {
  if (step.kind === "agent-words") return step.act === "tell" ? "palette.text" : "palette.noReason";
  return step.act === "steer" ? "palette.text" : "palette.reason";
}

/** What the step is about: the act, and the task, agent or project that it is for. */
function StepName({ step }: { step: Step }) {
  const { t } = useTranslation();
  const people = useQuery(agents).data;
  const all = useQuery(projects).data;
  const agent = "agentId" in step ? (people?.find((each) => each.agent_id === step.agentId)?.name ?? step.agentId) : "";
  const name = {
    task: () => ("task" in step ? step.task.title : ""),
    which: () => ("act" in step ? t(`act.${step.act as "start"}`) : ""),
    value: () => ("task" in step && "act" in step ? `${t(`act.${step.act}`)} ${step.task.title}` : ""),
    words: () => ("task" in step && "act" in step ? `${t(`act.${step.act}`)}: ${step.task.title}` : ""),
    agent: () => agent,
    "agent-words": () => ("act" in step ? `${t(`agentAct.${step.act as "tell"}`)}: ${agent}` : ""),
    project: () => all?.find((each) => "projectId" in step && each.project_id === step.projectId)?.name ?? "",
  }[step.kind]();
  return (
    <span className="max-w-[45%] shrink-0 truncate rounded bg-sunken px-2 py-1 text-[13px] font-medium">{name}</span>
  );
}

/** The words that are written in the field above go with the act. */
function Words({ step, text }: { step: WordsStep; text: string }) {
  const { t } = useTranslation();
  const onTask = useTelling();
  const onAgent = useAgentWords(step.kind === "agent-words" ? step.agentId : "");
  const needed = step.kind === "words" ? needsWords(actNamed(step.act), NOT_ASKED) : step.act === "tell";
  if (needed && text.trim() === "") return <p className="px-4 py-6 text-center text-soft">{t(wordsFor(step))}</p>;
  return (
    <Command.Item
      value="send"
      onSelect={() => {
        show(null);
        if (step.kind === "words") onTask(step.act, step.task, { words: text.trim() });
        else onAgent(step.act, text.trim());
      }}
      className="flex min-h-9 cursor-pointer items-center gap-2.5 rounded-md px-2.5 data-[selected=true]:bg-sunken"
    >
      <CornerDownLeft size={15} className="shrink-0 text-soft" aria-hidden />
      <span className="truncate">{t("palette.send")}</span>
    </Command.Item>
  );
}
