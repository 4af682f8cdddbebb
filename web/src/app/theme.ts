// Light or dark: what the person chose, else what their system says.
export type Theme = "light" | "dark" | "system";

const KEY = "toryo.theme";

export function chosenTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function chooseTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  applyTheme();
}

export function applyTheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = chosenTheme();
  document.documentElement.dataset.theme = theme === "system" ? (dark.matches ? "dark" : "light") : theme;
  dark.onchange = applyTheme;
}
