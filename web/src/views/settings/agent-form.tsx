// The fields of an agent, for making one and for changing one.
import { useQuery } from "@tanstack/react-query";

import { agents, serverStatus } from "@/api/queries";
import { useTranslation } from "@/i18n/use-words";
import { SelectField, TextArea, TextField } from "@/ui";
import { wrongJson } from "@/views/settings/agent-fields";
import { wrongLine } from "@/views/settings/fallback-lines";
import type { Fields } from "@/views/settings/editing";
import { Programs } from "@/views/settings/program-cards";
import { programsOf } from "@/views/settings/programs";

interface AgentFieldsProps {
  draft: Fields;
  set: (name: string) => (value: string) => void;
  /** The agent that is changed; it cannot stand above itself. */
  self: string | null;
}

/** All of them, for changing an agent. */
export function AgentFields({ draft, set, self }: AgentFieldsProps) {
  const { t } = useTranslation("settings");
  const value = (name: string) => ({ value: draft[name] ?? "", onChange: set(name) });
  return (
    <>
      <TextField label={t("agent.name")} {...value("name")} />
      <Place draft={draft} set={set} self={self} />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t("agent.provider")}
          help={t("agent.providerHelp")}
          list="toryo-providers"
          autoCapitalize="none"
          {...value("provider")}
        />
        <Model draft={draft} set={set} />
      </div>
      <TextArea label={t("agent.prompt")} help={t("agent.promptHelp")} rows={5} {...value("system_prompt")} />
      <AgentRest draft={draft} set={set} />
    </>
  );
}

/** What is said of a new agent. `program`: it has one. */
export function AgentBasics({ draft, set, self, program }: AgentFieldsProps & { program: boolean }) {
  const { t } = useTranslation("settings");
  return (
    <>
      {program && <Programs value={draft["provider"] ?? ""} onChange={set("provider")} />}
      <Place draft={draft} set={set} self={self} />
      {program && <Model draft={draft} set={set} />}
      <TextArea
        label={t("agent.prompt")}
        help={t("agent.promptHelp")}
        rows={3}
        value={draft["system_prompt"] ?? ""}
        onChange={set("system_prompt")}
      />
    </>
  );
}

/** What few people say of an agent. */
export function AgentRest({ draft, set }: Omit<AgentFieldsProps, "self">) {
  const { t } = useTranslation("settings");
  const value = (name: string) => ({ value: draft[name] ?? "", onChange: set(name) });
  const machines = useQuery(serverStatus).data?.coordinators ?? [];
  return (
    <>
      <datalist id="toryo-providers">
        {programsOf(machines).map((each) => (
          <option key={each.name} value={each.name} />
        ))}
      </datalist>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label={t("agent.capabilities")} help={t("agent.capabilitiesHelp")} {...value("capabilities")} />
        <TextField label={t("agent.type")} help={t("agent.typeHelp")} {...value("agent_type")} />
        <TextField label={t("agent.parallel")} type="number" min={1} max={1000} {...value("max_parallel_tasks")} />
      </div>
      <Options draft={draft} set={set} />
    </>
  );
}

/** Its place in the team. Nobody who is deactivated stands above anybody, but for who does already. */
function Place({ draft, set, self }: AgentFieldsProps) {
  const { t } = useTranslation("settings");
  const all = useQuery(agents).data ?? [];
  const value = (name: string) => ({ value: draft[name] ?? "", onChange: set(name) });
  const above = all
    .filter((each) => each.agent_id !== self && each.role !== "worker")
    .filter((each) => each.status === "active" || each.agent_id === draft["reports_to"]);
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label={t("agent.role")}
        {...value("role")}
        choices={(["worker", "manager", "owner"] as const).map((each) => ({ value: each, label: t(`role.${each}`) }))}
      />
      <SelectField
        label={t("agent.reportsTo")}
        help={t("agent.reportsToHelp")}
        {...value("reports_to")}
        choices={[
          { value: "", label: t("agent.nobody") },
          ...above.map((each) => ({ value: each.agent_id, label: each.name })),
        ]}
      />
    </div>
  );
}

/** Models that other agents of this program have are offered. */
function Model({ draft, set }: Omit<AgentFieldsProps, "self">) {
  const { t } = useTranslation("settings");
  const all = useQuery(agents).data ?? [];
  const models = all.filter((each) => each.provider === draft["provider"]).map((each) => each.model);
  return (
    <>
      <TextField
        label={t("agent.model")}
        help={t("agent.modelHelp")}
        list="toryo-models"
        autoCapitalize="none"
        value={draft["model"] ?? ""}
        onChange={set("model")}
      />
      <datalist id="toryo-models">
        {[...new Set(models)].map((each) => each !== null && <option key={each} value={each} />)}
      </datalist>
    </>
  );
}

function Options({ draft, set }: Omit<AgentFieldsProps, "self">) {
  const { t } = useTranslation("settings");
  const value = (name: string) => ({ value: draft[name] ?? "", onChange: set(name) });
  const wrong = wrongJson(draft["others"] ?? "");
  const line = wrongLine(draft["fallback"] ?? "");
  const permissions = ["read", "edit", "full"] as const;
  return (
    <fieldset className="space-y-4">
      <legend className="mb-2 text-[13px] font-semibold">{t("agent.options")}</legend>
      <SelectField
        label={t("agent.permissions")}
        help={t("agent.permissionsHelp")}
        {...value("permissions")}
        choices={[
          { value: "", label: t("agent.permission.default") },
          ...permissions.map((each) => ({ value: each, label: t(`agent.permission.${each}`) })),
        ]}
      />
      {draft["permissions"] !== "full" && (
        <TextArea
          label={t("agent.commands")}
          help={t("agent.commandsHelp")}
          className="font-mono text-[13px]"
          autoCapitalize="none"
          spellCheck={false}
          rows={2}
          {...value("commands")}
        />
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label={t("agent.labels")} help={t("agent.labelsHelp")} {...value("labels")} />
        <TextField label={t("agent.account")} help={t("agent.accountHelp")} {...value("account")} />
      </div>
      <TextArea
        label={t("agent.fallback")}
        help={t("agent.fallbackHelp")}
        error={line === null ? null : t("agent.noProgram", { line })}
        className="font-mono text-[13px]"
        autoCapitalize="none"
        spellCheck={false}
        rows={2}
        {...value("fallback")}
      />
      <TextArea
        label={t("agent.others")}
        help={t("agent.othersHelp")}
        error={wrong === null ? null : t("agent.noJson", { why: wrong })}
        className="font-mono text-[13px]"
        spellCheck={false}
        {...value("others")}
      />
    </fieldset>
  );
}
