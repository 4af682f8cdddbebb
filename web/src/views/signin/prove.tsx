// Asks who is signed in to prove that it is still they, by one of the ways in. Those that lead through another tab are
// noticed here: this origin then has a newer sign-in.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { me, waysIn } from "@/api/queries";
import { onSignIn } from "@/api/secret";
import { useTranslation } from "@/i18n/use-words";
import { Button, Copyable, Dialog, Failed } from "@/ui";
import { enter, leaveForProvider } from "@/views/signin/entering";
import { PasswordForm } from "@/views/signin/password";

export function Prove({ done }: { done: (proved: boolean) => void }) {
  const { t } = useTranslation("signin");
  const ways = useQuery(waysIn).data;
  const person = useQuery(me).data?.person_id;
  const [refused, setRefused] = useState<unknown>(null);
  useEffect(() => onSignIn(() => done(true)), [done]);

  async function attempt(what: () => Promise<void>): Promise<void> {
    try {
      await what();
    } catch (error) {
      setRefused(error);
    }
  }

  /** In a tab of its own, so that what is open here stays. It is opened at once: later, browsers would refuse it. */
  async function leave(): Promise<void> {
    const tab = window.open("", "_blank");
    try {
      const address = await leaveForProvider(true);
      if (tab === null) location.assign(address);
      else tab.location.href = address;
    } catch (error) {
      tab?.close();
      throw error;
    }
  }

  return (
    <Dialog open onClose={() => done(false)} title={t("prove")} description={t("proveWhy")}>
      <div className="space-y-5">
        {refused !== null && <Failed error={refused} />}
        {ways?.password === true && person !== undefined && (
          <PasswordForm
            person={person}
            onGiven={(given) =>
              attempt(async () => {
                await enter(given);
                done(true);
              })
            }
          />
        )}
        {ways?.provider != null && (
          <Button onClick={() => void attempt(leave)}>{t("providerGo", { host: ways.provider })}</Button>
        )}
        <div className="space-y-2">
          <p className="text-soft">{t("proveLink")}</p>
          <Copyable text="toryo open" />
        </div>
      </div>
    </Dialog>
  );
}
