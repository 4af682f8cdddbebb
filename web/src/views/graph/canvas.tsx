// The canvas: pans, zooms, fits itself, has a map in the corner; dragging from dot to dot links. Only what is seen is
// drawn, and from far away rectangles.
import {
  Background,
  ControlButton,
  Controls,
  MiniMap,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
  type Edge,
} from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { Maximize } from "lucide-react";
import { useEffect, useMemo, type CSSProperties } from "react";

import { useTranslation } from "@/i18n/use-words";

import { COLOURS, Far, OTHER, nodeAt } from "./far";
import { NEAREST, useFitting } from "./fitting";
import { TaskBox, type TaskNode } from "./node";
import { GIVEN_AT_MOST, useSeen } from "./seen";

const TYPES = { task: TaskBox };
const STYLE = {
  "--xy-background-color": "var(--paper)",
  "--xy-background-pattern-color": "var(--line)",
  "--xy-controls-button-background-color": "var(--panel)",
  "--xy-controls-button-background-color-hover": "var(--sunken)",
  "--xy-controls-button-color": "var(--ink-soft)",
  "--xy-controls-button-border-color": "var(--line)",
  "--xy-minimap-background-color": "var(--panel)",
  "--xy-minimap-mask-background-color": "color-mix(in srgb, var(--sunken) 70%, transparent)",
  "--xy-attribution-background-color": "transparent",
  "--xy-connectionline-stroke": "var(--accent)",
} as CSSProperties;

/** This many fit into a window; more need a map. Of very many, the whole graph is the map. */
const WITHOUT_MAP = 25;

interface CanvasProps {
  nodes: TaskNode[];
  edges: Edge[];
  /** A new value: fit the window again. */
  fit: string;
  onChoose: (taskId: string | null) => void;
  onChooseLink: (linkId: string | null) => void;
  onOpen: (taskId: string) => void;
  /** Null: nobody links here. */
  onLink: ((from: string, to: string) => void) | null;
  children: React.ReactNode;
}

export function Canvas(props: CanvasProps) {
  return (
    <ReactFlowProvider>
      <Picture {...props} />
    </ReactFlowProvider>
  );
}

function Picture({ nodes, edges, fit, onChoose, onChooseLink, onOpen, onLink, children }: CanvasProps) {
  const { t } = useTranslation("graph");
  const { screenToFlowPosition } = useReactFlow();
  const { far, beyond, ...seen } = useSeen(nodes, edges);
  const { begin, whole } = useFitting(nodes);
  const ready = useStore((store) => store.width > 0 && store.panZoom !== null);
  useEffect(() => {
    if (ready) begin();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a task that moves on leaves the window where it is
  }, [ready, fit]);
  const words = useMemo(
    () => ({
      "node.a11yDescription.default": t("controls.task"),
      "node.a11yDescription.keyboardDisabled": t("controls.task"),
      "edge.a11yDescription.default": t("controls.line"),
      "controls.ariaLabel": t("controls.whole"),
      "controls.zoomIn.ariaLabel": t("controls.nearer"),
      "controls.zoomOut.ariaLabel": t("controls.farther"),
      "minimap.ariaLabel": t("canvas"),
      "handle.ariaLabel": t("controls.dot"),
    }),
    [t],
  );
  return (
    <ReactFlow<TaskNode>
      aria-label={t("canvas")}
      ariaLabelConfig={words}
      nodes={seen.nodes}
      edges={seen.edges}
      nodeTypes={TYPES}
      onNodeClick={(_, node) => onChoose(node.id)}
      onNodeDoubleClick={(_, node) => onOpen(node.id)}
      onNodesChange={(changes) => {
        const chosen = changes.find((each) => each.type === "select" && each.selected);
        if (chosen?.type === "select") onChoose(chosen.id);
      }}
      onEdgesChange={(changes) => {
        const chosen = changes.find((each) => each.type === "select" && each.selected);
        if (chosen?.type === "select") onChooseLink(chosen.id);
      }}
      onPaneClick={(event) => {
        const { x, y } = screenToFlowPosition({ x: event.clientX, y: event.clientY });
        onChoose(far ? nodeAt(nodes, x, y) : null);
        onChooseLink(null);
      }}
      nodesConnectable={onLink !== null}
      onConnect={({ source, target }) => onLink?.(source, target)}
      deleteKeyCode={null}
      nodesDraggable={false}
      zoomOnDoubleClick={false}
      minZoom={0.01}
      maxZoom={NEAREST}
      style={STYLE}
    >
      <Background gap={22} size={1.5} />
      {(far || beyond.length > 0) && <Far nodes={nodes} edges={far ? edges : beyond} linesOnly={!far} />}
      <Controls showInteractive={false} showFitView={false} position="bottom-left">
        <ControlButton onClick={whole} aria-label={t("controls.fit")} title={t("controls.fit")}>
          <Maximize aria-hidden className="!fill-none" />
        </ControlButton>
      </Controls>
      {!far && nodes.length > WITHOUT_MAP && nodes.length <= GIVEN_AT_MOST && (
        <MiniMap<TaskNode>
          pannable
          zoomable
          position="bottom-right"
          className="!hidden rounded-lg border border-line sm:!block"
          nodeColor={(node) => `var(${COLOURS[node.data.task.status] ?? OTHER})`}
          nodeBorderRadius={12}
          ariaLabel={t("canvas")}
        />
      )}
      {children}
    </ReactFlow>
  );
}
