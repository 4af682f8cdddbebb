// Fields of forms: each has its label, its help and what is wrong with it; or, where one may not write, only its label
// and what it says.
import { Check, Minus } from "lucide-react";
import {
  createContext,
  useContext,
  useId,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from "react";

import { useTranslation } from "@/i18n/use-words";

const BOX =
  "w-full rounded-md border border-line-strong bg-panel px-2.5 text-ink placeholder:text-faint disabled:opacity-60 aria-[invalid=true]:border-red";

interface Said {
  label: ReactNode;
  help?: ReactNode;
  error?: ReactNode;
  /** The label is for screen readers only: the place says the rest. */
  bare?: boolean;
}

function Field({ id, label, help, error, bare = false, children }: Said & { id: string; children: ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className={bare ? "sr-only" : "text-[13px] font-medium"}>
        {label}
      </label>
      {children}
      {help !== undefined && (
        <p id={`${id}-help`} className="text-xs text-faint">
          {help}
        </p>
      )}
      {error !== undefined && error !== null && (
        <p id={`${id}-error`} role="alert" className="text-xs text-red">
          {error}
        </p>
      )}
    </div>
  );
}

const Reads = createContext(false);

/** A form for users who may only read it: its fields are shown as text. */
export function ReadOnly({ on, children }: { on: boolean; children: ReactNode }) {
  return <Reads value={on}>{children}</Reads>;
}

function Shown({ label, bare = false, text }: { label: ReactNode; bare: boolean | undefined; text: string }) {
  const { t } = useTranslation();
  return (
    <dl className="min-w-0">
      <dt className={bare ? "sr-only" : "text-xs text-faint"}>{label}</dt>
      <dd className={`break-words whitespace-pre-wrap ${text === "" ? "text-faint" : ""}`}>{text || t("app.none")}</dd>
    </dl>
  );
}

function described(id: string, { help, error }: Said) {
  const wrong = error !== undefined && error !== null;
  const by = [...(help === undefined ? [] : [`${id}-help`]), ...(wrong ? [`${id}-error`] : [])].join(" ");
  return { id, "aria-invalid": wrong, ...(by ? { "aria-describedby": by } : {}) };
}

type Own<Props> = Omit<Props, "id" | "onChange" | "value"> &
  Said & { value: string; onChange: (value: string) => void };

export function TextField(given: Own<InputHTMLAttributes<HTMLInputElement>>) {
  const { label, help, error, bare, onChange, className = "", ...rest } = given;
  const id = useId();
  if (useContext(Reads)) return <Shown label={label} bare={bare} text={given.value} />;
  return (
    <Field {...{ id, label, help, error, bare: bare ?? false }}>
      <input
        {...described(id, given)}
        {...rest}
        className={`h-9 ${BOX} ${className}`}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}

export function TextArea(given: Own<TextareaHTMLAttributes<HTMLTextAreaElement>>) {
  const { label, help, error, bare, onChange, className = "", ...rest } = given;
  const id = useId();
  if (useContext(Reads)) return <Shown label={label} bare={bare} text={given.value} />;
  return (
    <Field {...{ id, label, help, error, bare: bare ?? false }}>
      <textarea
        rows={4}
        {...described(id, given)}
        {...rest}
        className={`py-2 ${BOX} ${className}`}
        onChange={(event) => onChange(event.target.value)}
      />
    </Field>
  );
}

export interface Choice<Value extends string = string> {
  value: Value;
  label: string;
}

type Select<Value extends string> = Omit<Own<SelectHTMLAttributes<HTMLSelectElement>>, "value" | "onChange"> & {
  value: Value;
  onChange: (value: Value) => void;
  choices: readonly Choice<Value>[];
};

export function SelectField<Value extends string>(given: Select<Value>) {
  const { label, help, error, bare, onChange, choices, className = "", ...rest } = given;
  const id = useId();
  const reads = useContext(Reads);
  const chosen = choices.find((each) => each.value === given.value)?.label ?? given.value;
  if (reads) return <Shown label={label} bare={bare} text={chosen} />;
  return (
    <Field {...{ id, label, help, error, bare: bare ?? false }}>
      <select
        {...described(id, given)}
        {...rest}
        className={`h-9 ${BOX} ${className}`}
        onChange={({ target }) => {
          const said = choices.find((each) => each.value === target.value);
          if (said !== undefined) onChange(said.value);
        }}
      >
        {choices.map((each) => (
          <option key={each.value} value={each.value}>
            {each.label}
          </option>
        ))}
      </select>
    </Field>
  );
}

export function Checkbox({
  label,
  checked,
  onChange,
  disabled = false,
}: {
  label: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}) {
  if (useContext(Reads)) return <Ticked label={label} checked={checked} />;
  return (
    <label className="inline-flex min-h-7 items-center gap-2">
      <input
        type="checkbox"
        className="size-4 accent-[var(--accent)]"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      {label}
    </label>
  );
}

function Ticked({ label, checked }: { label: ReactNode; checked: boolean }) {
  const { t } = useTranslation();
  const Icon = checked ? Check : Minus;
  return (
    <span className={`inline-flex min-h-7 items-center gap-2 ${checked ? "" : "text-faint"}`}>
      <Icon
        size={15}
        className={`shrink-0 ${checked ? "text-green" : ""}`}
        role="img"
        aria-label={t(checked ? "app.yes" : "app.no")}
      />
      {label}
    </span>
  );
}
