// The views of a project, in the order of the menu; `nav.<name>` is what each is called.
import {
  ChartNoAxesGantt,
  ChartPie,
  Database,
  History,
  KeyRound,
  List,
  MessagesSquare,
  Network,
  ScrollText,
  SquareKanban,
  Users,
} from "lucide-react";

export const VIEWS = [
  ["board", SquareKanban],
  ["list", List],
  ["graph", Network],
  ["timeline", ChartNoAxesGantt],
  ["team", Users],
  ["chat", MessagesSquare],
  ["sessions", KeyRound],
  ["logs", ScrollText],
  ["audit", History],
  ["usage", ChartPie],
  ["state", Database],
] as const;
