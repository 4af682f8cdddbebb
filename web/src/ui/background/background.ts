// Work on texts that could take long, in a worker: one question after the other, the answers kept. A text that takes too
// long ends the worker and gets no answer: some are made for that.
import { useEffect, useState } from "react";

/** Milliseconds for one answer; the start of the worker is part of the first. */
const PATIENCE = 4_000;
const KEPT = 200;

interface Waiting<Answer> {
  question: string;
  answered: (answer: Answer | null) => void;
}

export class Background<Answer> {
  /** Answers in place of the worker: where there is none, as in unit tests. */
  here: ((question: string) => Answer | null) | null = null;
  private worker: Worker | null = null;
  private current: Waiting<Answer> | null = null;
  private timer = 0;
  private readonly waiting: Waiting<Answer>[] = [];
  private readonly known = new Map<string, Answer | null>();
  private readonly asked = new Map<string, Promise<Answer | null>>();

  constructor(private readonly start: () => Worker) {}

  /** undefined: not asked yet, or not answered. null: there is no answer. */
  answer(question: string): Answer | null | undefined {
    if (this.here !== null && !this.known.has(question)) this.keep(question, this.here(question));
    return this.known.get(question);
  }

  ask(question: string): Promise<Answer | null> {
    const before = this.asked.get(question);
    if (before !== undefined) return before;
    const coming = new Promise<Answer | null>((answered) => this.waiting.push({ question, answered }));
    this.asked.set(question, coming);
    this.next();
    return coming;
  }

  private next(): void {
    if (this.current !== null || typeof Worker === "undefined") return;
    this.current = this.waiting.shift() ?? null;
    if (this.current === null) return;
    const worker = (this.worker ??= this.started());
    this.timer = window.setTimeout(() => this.broken(worker), PATIENCE);
    worker.postMessage(this.current.question);
  }

  private started(): Worker {
    const worker = this.start();
    worker.onmessage = ({ data }: MessageEvent<Answer | null>) => worker === this.worker && this.done(data);
    worker.onerror = () => this.broken(worker);
    return worker;
  }

  private broken(worker: Worker): void {
    if (worker !== this.worker) return;
    worker.terminate();
    this.worker = null;
    this.done(null);
  }

  private done(answer: Answer | null): void {
    window.clearTimeout(this.timer);
    const { current } = this;
    this.current = null;
    if (current !== null) {
      this.asked.delete(current.question);
      this.keep(current.question, answer);
      current.answered(answer);
    }
    this.next();
  }

  private keep(question: string, answer: Answer | null): void {
    this.known.set(question, answer);
    const [oldest] = this.known.keys();
    if (this.known.size > KEPT && oldest !== undefined) this.known.delete(oldest);
  }
}

/** The answer as soon as it is there; null until then, and where there is none. `question` null: nothing is asked. */
export function useAnswer<Answer>(background: Background<Answer>, question: string | null): Answer | null {
  const [, setCome] = useState<string | null>(null);
  const known = question === null ? null : background.answer(question);
  useEffect(() => {
    if (question === null || background.answer(question) !== undefined) return;
    let there = true;
    void background.ask(question).then(() => there && setCome(question));
    return () => {
      there = false;
    };
  }, [background, question]);
  return known ?? null;
}
