// People: their roles, how they sign in, and removing them.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { KeyRound, Link as LinkIcon, Plus, Trash2 } from "lucide-react";
import { useState } from "react";

import { api } from "@/api/client";
import type { Me, Person } from "@/api/model";
import { people } from "@/api/queries";
import { useOwns } from "@/app/may";
import { navigate, useSearch } from "@/app/routing";
import type { TFunction } from "@/i18n";
import { useTranslation } from "@/i18n/use-words";
import { Avatar, Button, Confirm, Failed, IconButton, Loading, Panel, ReadOnly, SelectField, useToast } from "@/ui";
import { LinkDialog } from "@/views/settings/link";
import { NewPerson } from "@/views/settings/new-person";
import { Head } from "@/views/settings/parts";
import { PasswordDialog } from "@/views/settings/password";

export const LOGINS: readonly Me["login"][] = ["owner", "member", "viewer"];

export function PeopleTab() {
  const { t } = useTranslation("settings");
  const found = useQuery(people);
  const owner = useOwns();
  const [adding, setAdding] = useState(false);
  const { q } = useSearch();
  const close = () => {
    setAdding(false);
    if (q === "new") void navigate({ to: "/settings", search: { tab: "people" }, replace: true });
  };
  if (found.isPending) return <Loading />;
  if (found.isError) return <Failed error={found.error} />;
  return (
    <>
      <Head title={t("tabs.people")}>
        {owner && (
          <Button look="primary" onClick={() => setAdding(true)}>
            <Plus size={15} aria-hidden />
            {t("person.new")}
          </Button>
        )}
      </Head>
      <Panel>
        <ul className="divide-y divide-line">
          {found.data.map((each) => (
            <One key={each.person_id} each={each} owner={owner} />
          ))}
        </ul>
      </Panel>
      {(adding || q === "new") && <NewPerson close={close} />}
    </>
  );
}

const of = (each: Person) => ({ path: { person_id: each.person_id } });

function One({ each, owner }: { each: Person; owner: boolean }) {
  const { t } = useTranslation("settings");
  const client = useQueryClient();
  const toast = useToast();
  const [open, setOpen] = useState<"link" | "password" | "remove" | null>(null);
  const close = () => setOpen(null);
  async function act(what: () => Promise<unknown>, words: string) {
    await what();
    toast.done(words);
    void client.invalidateQueries({ queryKey: ["people"] });
  }
  const change = (login: Me["login"]) =>
    act(
      () => api.patch("/people/{person_id}", { ...of(each), version: each.version, body: { login } }),
      t("person.changed", { name: each.name }),
    );
  const remove = () => act(() => api.delete("/people/{person_id}", of(each)), t("person.removed", { name: each.name }));
  return (
    <li className="flex flex-wrap items-center gap-3 px-4 py-3">
      <Avatar id={each.person_id} name={each.name} size={32} />
      <div className="min-w-0 flex-1 basis-40">
        <p className="truncate font-medium">{each.name}</p>
        <p className="truncate text-xs text-faint">{factsOf(each, t).join(" · ")}</p>
      </div>
      <div className="w-full sm:w-60">
        <ReadOnly on={!owner}>
          <SelectField
            bare
            label={t("person.login")}
            value={each.login}
            onChange={(login) => void change(login).catch(toast.failed)}
            choices={LOGINS.map((value) => ({ value, label: t(`person.logins.${value}`) }))}
          />
        </ReadOnly>
      </div>
      {owner && (
        <span className="flex">
          <IconButton label={t("person.link")} onClick={() => setOpen("link")}>
            <LinkIcon size={16} />
          </IconButton>
          <IconButton label={t("person.password")} onClick={() => setOpen("password")}>
            <KeyRound size={16} />
          </IconButton>
          <IconButton label={t("person.remove")} onClick={() => setOpen("remove")}>
            <Trash2 size={16} />
          </IconButton>
        </span>
      )}
      <LinkDialog open={open === "link"} close={close} person={each} />
      <PasswordDialog open={open === "password"} close={close} personId={each.person_id} name={each.name} />
      <Confirm
        open={open === "remove"}
        title={t("person.removeTitle", { name: each.name })}
        action={t("person.remove")}
        onClose={close}
        onConfirm={remove}
      >
        {t("person.removeText")}
      </Confirm>
    </li>
  );
}

function factsOf(each: Person, t: TFunction): string[] {
  return [
    each.person_id,
    ...(each.email ? [each.email] : []),
    ...(each.password === true ? [t("person.hasPassword")] : []),
    ...(each.browsers ? [t("person.browsers", { count: each.browsers })] : []),
    ...(each.tokens ? [t("person.tokens", { count: each.tokens })] : []),
  ];
}
