// What was chosen in the palette lately, the newest first. Only names of commands, in this browser.
import { useState } from "react";

const KEY = "toryo.palette";
const KEPT = 20;

function read(): string[] {
  try {
    const said: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(said) ? said.filter((each) => typeof each === "string") : [];
  } catch {
    return [];
  }
}

/** As it was when the palette was opened: nothing moves under the pointer. */
export function useRecent(): string[] {
  return useState(read)[0];
}

export function used(id: string): void {
  localStorage.setItem(KEY, JSON.stringify([id, ...read().filter((each) => each !== id)].slice(0, KEPT)));
}
