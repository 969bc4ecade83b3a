import { checkKind } from '../../../domain/archive/checkKind';
import { STANDARD_CHECKS } from '../../../domain/spec/standardChecks';

test.each([
  ['system.cpu', 'cpu'],
  ['system.memory', 'memory'],
  ['task.crashes', 'crashes'],
  ['rpc.error_ratio', 'rpc'],
  ['http_requests', 'rpc'],
  ['orders.rejected', 'app-specific'],
  ['', 'app-specific'],
])('a check of %s looks at %s', (metric, kind) => {
  expect(checkKind(metric)).toBe(kind);
});

test('the ready checks look at what their names say', () => {
  const kinds = Object.entries(STANDARD_CHECKS).map(([name, { metric }]) => [name, checkKind(String(metric))]);
  expect(Object.fromEntries(kinds)).toMatchObject({ cpu: 'cpu', memory: 'memory', 'rpc-errors': 'rpc' });
});
