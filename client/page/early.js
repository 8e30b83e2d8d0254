// Loads the worker beside the modules of a page, not after them: pages begin with this one.

import { missing } from "../simulator/module.js";
import { prepare } from "./session.js";

if (missing() === "") prepare();
