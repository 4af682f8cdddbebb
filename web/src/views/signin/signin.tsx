// The door: the code of a link opens it by itself; who has none is told how to get one, or gives a password.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { LoaderCircle } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { Refused } from "@/api/client";
import { me, waysIn } from "@/api/queries";
import { forgetSignedOut, signedOutElsewhere, takeBack } from "@/app/back";
import { navigate, useHash } from "@/app/routing";
import { useTranslation } from "@/i18n/use-words";
import { Button, Copyable, Failed } from "@/ui";
import { codeOf, enter as signIn, leaveForProvider, type Given } from "@/views/signin/entering";
import { PasswordForm } from "@/views/signin/password";

export function SignIn() {
  const { t } = useTranslation("signin");
  const { enter, leave, stay, refused, entering, other } = useEntering();
  const [ended] = useState(signedOutElsewhere);
  const provider = useQuery(waysIn).data?.provider ?? null;
  return (
    <main className="flex min-h-dvh items-start justify-center p-4 sm:items-center">
      <div className="w-full max-w-md space-y-5 py-8">
        <header className="flex items-center gap-3">
          <img src="/favicon.svg" alt="" width={36} height={36} />
          <h1 className="text-xl font-semibold tracking-tight">{t("title")}</h1>
        </header>
        {ended && (
          <p role="status" className="rounded-lg border border-amber bg-amber-soft px-4 py-3 text-amber">
            {t("signedOut", { ns: "translation" })}
          </p>
        )}
        {refused !== null && (
          <div className="rounded-lg border border-red bg-red-soft">
            <Failed error={refused} />
          </div>
        )}
        {entering ? (
          <p role="status" className="flex items-center gap-2 text-soft">
            <LoaderCircle size={18} className="animate-spin" aria-hidden />
            {t("entering")}
          </p>
        ) : other !== null ? (
          <section className="space-y-4 rounded-xl border border-line bg-panel p-5 shadow-[var(--shadow)]">
            <h2 className="font-medium wrap-anywhere">{t("other", other.names)}</h2>
            <p className="text-soft">{t("otherHow")}</p>
            <div className="flex flex-wrap gap-2">
              <Button look="primary" onClick={stay}>
                {t("stay", other.names)}
              </Button>
              <Button onClick={() => void enter({ code: other.code, instead_of: other.presentId })}>
                {t("change", other.names)}
              </Button>
            </div>
          </section>
        ) : (
          <div className="divide-y divide-line rounded-xl border border-line bg-panel shadow-[var(--shadow)]">
            <section className="space-y-3 p-5">
              <h2 className="font-medium">{t("link")}</h2>
              <p className="text-soft">{t("linkHow")}</p>
              <Copyable text="toryo open" />
            </section>
            {provider !== null && (
              <section className="space-y-3 p-5">
                <h2 className="font-medium">{t("provider")}</h2>
                <Button look="primary" onClick={() => void leave()}>
                  {t("providerGo", { host: provider })}
                </Button>
              </section>
            )}
            <section className="space-y-3 p-5">
              <h2 className="font-medium">{t("password")}</h2>
              <PasswordForm onGiven={enter} />
            </section>
          </div>
        )}
      </div>
    </main>
  );
}

/** A link signs in somebody else than who is signed in here. */
interface Other {
  code: string;
  presentId: string;
  names: { present: string; person: string };
}

interface State {
  refused: unknown;
  entering: boolean;
  other: Other | null;
}

interface Entering extends State {
  enter: (given: Given) => Promise<void>;
  leave: () => Promise<void>;
  stay: () => void;
}

const CALM: State = { refused: null, entering: false, other: null };

function otherOf(error: unknown, code: string | null | undefined): Other | null {
  const problem = error instanceof Refused ? error.problem : {};
  const { person, instead_of: present } = problem as Record<string, { person_id: string; name: string } | undefined>;
  if (person === undefined || present === undefined || code == null) return null;
  return { code, presentId: present.person_id, names: { present: present.name, person: person.name } };
}

/** Signs in and goes on; the code of an address is used once and does not stay in it. */
function useEntering(): Entering {
  const code = useHash();
  const [state, setState] = useState<State>({ ...CALM, entering: code !== "" });
  const client = useQueryClient();
  const used = useRef("");

  async function enter(given: Given): Promise<void> {
    setState({ ...CALM, entering: true });
    try {
      await signIn(given);
      client.clear();
      await client.fetchQuery(me);
      forgetSignedOut();
      stay();
    } catch (error) {
      const other = otherOf(error, given.code);
      setState({ ...CALM, refused: other === null ? error : null, other });
    }
  }

  async function leave(): Promise<void> {
    try {
      location.assign(await leaveForProvider());
    } catch (error) {
      setState({ ...CALM, refused: error });
    }
  }

  function stay(): void {
    void navigate({ to: takeBack(), replace: true });
  }

  useEffect(() => {
    if (code === "" || used.current === code) return;
    used.current = code;
    void navigate({ to: "/sign-in", replace: true }).then(() => enter({ code: codeOf(code) }));
  });

  return { enter, leave, stay, ...state };
}
