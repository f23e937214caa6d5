// Observable Plot, in a script of its own: views that draw charts ask for it (scripts.js).
import {dot, line, plot, ruleX, ruleY, text} from '@observablehq/plot';

globalThis.posencPlot = {dot, line, plot, ruleX, ruleY, text};
