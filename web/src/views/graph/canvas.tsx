// The canvas: pans, zooms, fits itself, has a map in the corner; dragging from dot to dot links.
import { Background, Controls, MiniMap, ReactFlow, type Edge, type ReactFlowInstance } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { useEffect, useMemo, useState, type CSSProperties } from "react";
import { useTranslation } from "react-i18next";

import { TaskBox, type TaskNode } from "./node";

const TYPES = { task: TaskBox };
const COLOURS: Record<string, string> = {
  in_progress: "var(--blue)",
  blocked: "var(--amber)",
  failed: "var(--red)",
  completed: "var(--green)",
};
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

/** Below this, titles cannot be read: rather a part of the graph than all of it as dots. */
const READABLE = 0.45;
/** This many fit into a window; more need a map. */
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

export function Canvas({ nodes, edges, fit, onChoose, onChooseLink, onOpen, onLink, children }: CanvasProps) {
  const { t } = useTranslation("graph");
  const [flow, setFlow] = useState<ReactFlowInstance<TaskNode> | null>(null);
  useEffect(() => {
    const frame = requestAnimationFrame(
      () => void flow?.fitView({ padding: 0.15, minZoom: READABLE, maxZoom: 1.1, duration: 250 }),
    );
    return () => cancelAnimationFrame(frame);
  }, [flow, fit]);
  const words = useMemo(
    () => ({
      "node.a11yDescription.default": t("controls.task"),
      "node.a11yDescription.keyboardDisabled": t("controls.task"),
      "edge.a11yDescription.default": t("controls.line"),
      "controls.ariaLabel": t("controls.whole"),
      "controls.zoomIn.ariaLabel": t("controls.nearer"),
      "controls.zoomOut.ariaLabel": t("controls.farther"),
      "controls.fitView.ariaLabel": t("controls.fit"),
      "minimap.ariaLabel": t("canvas"),
      "handle.ariaLabel": t("controls.dot"),
    }),
    [t],
  );
  return (
    <ReactFlow<TaskNode>
      aria-label={t("canvas")}
      ariaLabelConfig={words}
      nodes={nodes}
      edges={edges}
      nodeTypes={TYPES}
      onInit={setFlow}
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
      onPaneClick={() => {
        onChoose(null);
        onChooseLink(null);
      }}
      nodesConnectable={onLink !== null}
      onConnect={({ source, target }) => onLink?.(source, target)}
      deleteKeyCode={null}
      nodesDraggable={false}
      zoomOnDoubleClick={false}
      onlyRenderVisibleElements={nodes.length > 150}
      minZoom={0.08}
      maxZoom={1.75}
      style={STYLE}
      fitView
    >
      <Background gap={22} size={1.5} />
      <Controls showInteractive={false} position="bottom-left" />
      {nodes.length > WITHOUT_MAP && (
        <MiniMap<TaskNode>
          pannable
          zoomable
          position="bottom-right"
          className="!hidden rounded-lg border border-line sm:!block"
          nodeColor={(node) => COLOURS[node.data.task.status] ?? "var(--line-strong)"}
          nodeBorderRadius={12}
          ariaLabel={t("canvas")}
        />
      )}
      {children}
    </ReactFlow>
  );
}
