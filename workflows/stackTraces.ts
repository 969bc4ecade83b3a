/**
 * An error of a workflow names the place that threw it, and no callers (docs/adr/0051). This file is loaded before the workflows, since Temporal's
 * SDK freezes the globals that they share.
 */
Error.stackTraceLimit = 1;
