// Who you are, and your password: for servers that people reach from elsewhere.
import { useId, useState, type FormEvent, type InputHTMLAttributes } from "react";

import { useTranslation } from "@/i18n/use-words";
import { Button } from "@/ui";

export interface Given {
  person_id: string;
  password: string;
}

/** `person`: who it is, if that is known. */
export function PasswordForm({ onGiven, person }: { onGiven: (given: Given) => Promise<void>; person?: string }) {
  const { t } = useTranslation("signin");
  const [missing, setMissing] = useState(false);
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const said = new FormData(event.currentTarget);
    const given = { person_id: person ?? String(said.get("person_id")).trim(), password: String(said.get("password")) };
    const whole = given.person_id !== "" && given.password !== "";
    setMissing(!whole);
    if (whole) void onGiven(given);
  }
  return (
    <form onSubmit={submit} noValidate className="space-y-3">
      {person === undefined && (
        <Field label={t("person")} hint={t("personHint")} name="person_id" autoComplete="username" />
      )}
      <Field label={t("secret")} name="password" type="password" autoComplete="current-password" />
      {missing && (
        <p role="alert" className="text-red">
          {t("missing")}
        </p>
      )}
      <Button type="submit" look="primary" className="w-full">
        {t("go")}
      </Button>
    </form>
  );
}

function Field({ label, hint, ...rest }: InputHTMLAttributes<HTMLInputElement> & { label: string; hint?: string }) {
  const id = useId();
  return (
    <div className="space-y-1">
      <label htmlFor={id} className="block text-[13px] font-medium">
        {label}
      </label>
      <input
        id={id}
        className="h-9 w-full rounded-md border border-line-strong bg-panel px-3"
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        {...rest}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-xs text-faint">
          {hint}
        </p>
      )}
    </div>
  );
}
