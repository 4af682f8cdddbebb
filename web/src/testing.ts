// What the tests of components need before each file.
import { configure } from "@testing-library/react";

import "@/i18n";

Element.prototype.scrollIntoView ??= () => undefined; // jsdom scrolls nothing

configure({ asyncUtilTimeout: 10_000 }); // on a machine with much else to do; who waits for what comes waits no longer
