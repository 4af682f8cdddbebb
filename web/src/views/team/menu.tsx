// Actions on one agent: those for members, and those for owners only.
import { Ellipsis, KeyRound, MessagesSquare, Pencil, Play, Power, PowerOff, UserMinus } from "lucide-react";

import type { Agent, Member } from "@/api/model";
import { useTranslation } from "@/i18n/use-words";
import { IconButton, Menu, MenuItem, MenuLine } from "@/ui";

import type { Branch } from "./tree";

export interface Acts {
  chat: (agent: Agent) => void;
  edit: (agent: Agent) => void;
  resume: (agent: Agent) => void;
  activate: (agent: Agent) => void;
  deactivate: (agent: Agent) => void;
  passkey: (agent: Agent) => void;
  leave: (agent: Agent) => void;
}

interface AgentMenuProps {
  branch: Branch;
  member: Member | undefined;
  acts: Acts;
  owns: boolean;
}

export function AgentMenu({ branch, member, acts, owns }: AgentMenuProps) {
  const { t } = useTranslation("team");
  const { agent, outside } = branch;
  const talks = agent.kind === "ai" && !outside;
  const cools = member?.state === "cooling_down";
  if (!owns && !talks && !cools) return null;
  return (
    <Menu
      trigger={
        <IconButton label={t("actions", { name: agent.name })}>
          <Ellipsis size={16} />
        </IconButton>
      }
    >
      {talks && (
        <MenuItem onSelect={() => acts.chat(agent)}>
          <MessagesSquare size={15} aria-hidden />
          {t("act.chat")}
        </MenuItem>
      )}
      {cools && (
        <MenuItem onSelect={() => acts.resume(agent)}>
          <Play size={15} aria-hidden />
          {t("act.resume")}
        </MenuItem>
      )}
      {owns && <Administering branch={branch} acts={acts} />}
    </Menu>
  );
}

function Administering({ branch: { agent, outside }, acts }: { branch: Branch; acts: Acts }) {
  const { t } = useTranslation("team");
  return (
    <>
      <MenuItem onSelect={() => acts.edit(agent)}>
        <Pencil size={15} aria-hidden />
        {t("act.edit")}
      </MenuItem>
      <MenuItem onSelect={() => acts.passkey(agent)}>
        <KeyRound size={15} aria-hidden />
        {t("act.passkey")}
      </MenuItem>
      <MenuLine />
      {!outside && (
        <MenuItem onSelect={() => acts.leave(agent)}>
          <UserMinus size={15} aria-hidden />
          {t("act.leave")}
        </MenuItem>
      )}
      {agent.status === "active" ? (
        <MenuItem onSelect={() => acts.deactivate(agent)}>
          <PowerOff size={15} aria-hidden />
          {t("act.deactivate")}
        </MenuItem>
      ) : (
        <MenuItem onSelect={() => acts.activate(agent)}>
          <Power size={15} aria-hidden />
          {t("act.activate")}
        </MenuItem>
      )}
    </>
  );
}
