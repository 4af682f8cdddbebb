// The fields of an agent, for making one and for changing one.
import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";

import { agents } from "@/api/queries";
import { SelectField, TextArea, TextField } from "@/ui";
import { wrongJson } from "@/views/settings/agent-fields";
import type { Fields } from "@/views/settings/editing";

const PROVIDERS = ["claude", "codex", "gemini", "qwen", "opencode", "copilot", "playbook", "command", "script"];

interface AgentFieldsProps {
  draft: Fields;
  set: (name: string) => (value: string) => void;
  /** The agent that is changed; it cannot stand above itself. */
  self: string | null;
}

export function AgentFields({ draft, set, self }: AgentFieldsProps) {
  const { t } = useTranslation("settings");
  const all = useQuery(agents).data ?? [];
  const value = (name: string) => ({ value: draft[name] ?? "", onChange: set(name) });
  const above = all.filter((each) => each.agent_id !== self && each.role !== "worker");
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label={t("agent.name")} {...value("name")} />
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
        <TextField label={t("agent.parallel")} type="number" min={1} max={1000} {...value("max_parallel_tasks")} />
        <TextField
          label={t("agent.provider")}
          help={t("agent.providerHelp")}
          list="toryo-providers"
          autoCapitalize="none"
          {...value("provider")}
        />
        <TextField label={t("agent.model")} help={t("agent.modelHelp")} autoCapitalize="none" {...value("model")} />
      </div>
      <datalist id="toryo-providers">
        {PROVIDERS.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <TextArea label={t("agent.prompt")} help={t("agent.promptHelp")} rows={5} {...value("system_prompt")} />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label={t("agent.capabilities")} help={t("agent.capabilitiesHelp")} {...value("capabilities")} />
        <TextField label={t("agent.type")} help={t("agent.typeHelp")} {...value("agent_type")} />
      </div>
      <Options draft={draft} set={set} />
    </>
  );
}

function Options({ draft, set }: Omit<AgentFieldsProps, "self">) {
  const { t } = useTranslation("settings");
  const value = (name: string) => ({ value: draft[name] ?? "", onChange: set(name) });
  const wrong = wrongJson(draft["others"] ?? "");
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
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t("agent.fallback")}
          help={t("agent.fallbackHelp")}
          list="toryo-providers"
          {...value("fallback")}
        />
        <TextField label={t("agent.fallbackModel")} {...value("fallback_model")} />
        <TextField label={t("agent.labels")} help={t("agent.labelsHelp")} {...value("labels")} />
        <TextField label={t("agent.account")} help={t("agent.accountHelp")} {...value("account")} />
      </div>
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
