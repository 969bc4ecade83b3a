import type { OperationName } from '../../domain/access/operations';
import type { AuditEntry } from '../../domain/audit/record';
import type { Id } from '../../domain/ids';
import type { Verb } from '../../domain/verbs';
import type { ConveyorClient } from '../api';
import type { PermissionGate } from '../permissionGate';

/** A route of `conveyor server`. */
export type Route = `${'GET' | 'POST' | 'PUT'} /${string}`;

/** The parts of a request that depend on its arguments. */
export interface RequestParts {
  /** Fills the route; if each kind of id has its own route, it also chooses the route. */
  readonly id?: Id;
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
  /** A repeated key starts no second release or change. Null generates a key, so that the request can be sent again if no answer arrives. */
  readonly key?: string | null;
}

/** How to send a call to a server and read its answer. */
export interface RouteRow<Args extends readonly unknown[] = readonly unknown[], Answer = unknown> {
  readonly route: Route | Readonly<Record<Id['kind'], Route>>;
  /** @throws ConveyorError `invalid-id` */
  request?(...args: Args): RequestParts;
  /** Converts the body of the response; by default the body is the answer. */
  answer?(body: unknown, ...args: Args): Answer;
}

/** A question by its route. The types are those of its arguments and of its answer. */
export const question = <Args extends readonly unknown[], Answer>(
  route: Route,
  request?: (...args: Args) => RequestParts,
): RouteRow<Args, Answer> & { readonly route: Route } => ({ route, ...(request && { request }) });

/** The client type for rows of questions. */
export type ClientOf<Rows> = {
  readonly [N in keyof Rows]: Rows[N] extends RouteRow<infer Args, infer Answer>
    ? (...args: Args) => Promise<Answer>
    : never;
};

/** Health and closing are not operations: they have no API route and need no permission. */
export type Operations = Omit<ConveyorClient, 'readiness' | 'close'>;

/** A row for each operation, from which the guard, the audit and the HTTP client are derived. */
export type OperationRows = {
  readonly [N in keyof Operations]: ReadOrChange<Parameters<Operations[N]>, Awaited<ReturnType<Operations[N]>>>;
};

type ReadOrChange<Args extends readonly unknown[], Answer> = RouteRow<Args, Answer> &
  (ReadRow | ChangeRow<Args, Answer>);

/**
 * An operation for all readers. `look-now` is one, too, because it changes nothing: the next look at a run comes a
 * little earlier.
 */
interface ReadRow {
  readonly access: 'read' | 'look-now';
  readonly permit?: undefined;
  readonly audit?: undefined;
}

interface ChangeRow<Args extends readonly unknown[], Answer> {
  /** Its name in domain/access/operations.ts. */
  readonly access: Exclude<OperationName, 'read' | 'look-now'> | VerbSelector<Args>;
  /** Returns the arguments with the rule that allows them. @throws ConveyorError `not-permitted`, `unsigned` */
  permit(gate: PermissionGate, ...args: Args): Promise<Args>;
  /** Its audit record, for success and refusal. */
  audit(...args: Args): AuditRow<Answer>;
}

/** A method's type, so that `AnyRow` fits every row: TypeScript compares arguments of methods both ways. */
type VerbSelector<Args extends readonly unknown[]> = { verb(...args: Args): Verb }['verb'];

type EntryParts = Partial<Omit<AuditEntry, 'actor' | 'target'>>;

interface AuditRow<Answer> extends Pick<AuditEntry, 'actor' | 'target'>, EntryParts {
  /** The rest of the record after success. */
  came(done: Answer): Partial<AuditEntry>;
}

/** A row for code that treats all rows alike. */
export type AnyRow = ReadOrChange<readonly unknown[], unknown>;
type AnyOperation = (...args: readonly unknown[]) => Promise<unknown>;

/** A client whose methods are made from rows. */
export const clientFromRows = <Client extends object, Row>(
  rows: Readonly<Record<keyof Client, Row>>,
  make: (row: Row, name: keyof Client) => AnyOperation,
): Client =>
  Object.fromEntries(Object.entries<Row>(rows).map(([name, row]) => [name, make(row, name as keyof Client)])) as Client;

/** Calls the operation of a row on a client. */
export function callOperation(client: Operations, name: keyof Operations, args: readonly unknown[]): Promise<unknown> {
  const operations = client as unknown as Readonly<Record<keyof Operations, AnyOperation>>;
  return operations[name](...args);
}
