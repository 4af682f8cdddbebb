// A form: sent by its button and, from each of its fields, by ⌘Enter or Ctrl+Enter.
import type { ComponentProps, KeyboardEvent, SyntheticEvent } from "react";

interface FormProps extends Omit<ComponentProps<"form">, "onSubmit" | "onKeyDown"> {
  onSend: () => void;
  /** With Shift, where that means something else. */
  onSendMore?: () => void;
}

export function Form({ onSend, onSendMore, ...rest }: FormProps) {
  const own = (event: SyntheticEvent) => {
    event.preventDefault();
    event.stopPropagation(); // React hands it on to a form that a dialog was opened from
  };
  function pressed(event: KeyboardEvent<HTMLFormElement>) {
    if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey) || event.nativeEvent.isComposing) return;
    own(event);
    if (event.shiftKey && onSendMore !== undefined) onSendMore();
    else event.currentTarget.querySelector<HTMLButtonElement>("button[type=submit]")?.click(); // as one would press it
  }
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- its fields are what is pressed in
    <form
      {...rest}
      onKeyDown={pressed}
      onSubmit={(event) => {
        own(event);
        onSend();
      }}
    />
  );
}
