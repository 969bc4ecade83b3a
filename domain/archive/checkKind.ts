/** The kind of a check, by its metric (Conveyor §6.4.2, Figure 8). */
export const CHECK_KINDS = ['cpu', 'memory', 'crashes', 'rpc', 'app-specific'] as const;
export type CheckKind = (typeof CHECK_KINDS)[number];

/** `system.cpu` → `cpu`; other metrics belong to the application. */
export function checkKind(metric: string): CheckKind {
  return KINDS.find(([, pattern]) => pattern.test(metric))?.[0] ?? 'app-specific';
}

const KINDS: readonly (readonly [CheckKind, RegExp])[] = [
  ['cpu', /(^|[._])cpu([._]|$)/],
  ['memory', /(^|[._])(memory|mem|oom)([._]|$)/],
  ['crashes', /(^|[._])(crash\w*|restarts?)([._]|$)/],
  ['rpc', /^(rpc|grpc|http)[._]/],
];
