// Changed files as a tree: folders with only one thing in them share a row.
import type { FileChange } from "@/api/model";

export interface Row {
  /** What stands on the row: of a file its name, of a folder its path below the row above. */
  name: string;
  depth: number;
  file: FileChange | null;
}

interface Folder {
  folders: Map<string, Folder>;
  files: FileChange[];
}

const empty = (): Folder => ({ folders: new Map(), files: [] });

export function treeOf(files: readonly FileChange[]): Row[] {
  const root = empty();
  for (const file of files) {
    let at = root;
    for (const part of file.path.split("/").slice(0, -1)) {
      const next = at.folders.get(part) ?? empty();
      at.folders.set(part, next);
      at = next;
    }
    at.files.push(file);
  }
  return rowsOf(root, 0);
}

function rowsOf(folder: Folder, depth: number): Row[] {
  const below = [...folder.folders].flatMap(([first, inner]) => {
    let [name, at] = [first, inner];
    while (at.files.length === 0 && at.folders.size === 1) {
      const [[part, only]] = [...at.folders] as [[string, Folder]];
      [name, at] = [`${name}/${part}`, only];
    }
    return [{ name, depth, file: null }, ...rowsOf(at, depth + 1)];
  });
  const here = folder.files.map((file) => ({ name: file.path.slice(file.path.lastIndexOf("/") + 1), depth, file }));
  return [...below, ...here];
}
