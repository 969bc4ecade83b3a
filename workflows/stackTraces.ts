/**
 * An error of a workflow names the place that threw it, and no callers (docs/adr/0051). It is loaded before the workflows, since Temporal's
 * SDK freezes what they share.
 */
Error.stackTraceLimit = 1;
