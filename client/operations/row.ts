import type { OperationName } from '../../domain/access/operations';
import type { AuditEntry } from '../../domain/audit/record';
import type { Id } from '../../domain/ids';
import type { Verb } from '../../domain/verbs';
import type { ConveyorClient } from '../api';
import type { PermissionGate } from '../permissionGate';

/** A route of `conveyor server`. */
export type Route = `${'GET' | 'POST' | 'PUT'} /${string}`;

/** As much of a request as depends on its arguments. */
export interface RequestParts {
  /** Fills the route; where there is one for each kind of id, it chooses the route as well. */
  readonly id?: Id;
  readonly params?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
  /** The same key starts the same thing once. Null makes a key, so that the request can be sent again if no answer arrives. */
  readonly key?: string | null;
}

/** How a question to a server is sent, and what its answer means. */
export interface RouteRow<Args extends readonly unknown[] = readonly unknown[], Answer = unknown> {
  readonly route: Route | Readonly<Record<Id['kind'], Route>>;
  /** @throws ConveyorError `invalid-id` */
  request?(...args: Args): RequestParts;
  /** By the body of the response; without it the body is the answer. */
  answer?(body: unknown, ...args: Args): Answer;
}

/** A question by its route. The types are those of its arguments and of its answer. */
export const question = <Args extends readonly unknown[], Answer>(
  route: Route,
  request?: (...args: Args) => RequestParts,
): RouteRow<Args, Answer> & { readonly route: Route } => ({ route, ...(request && { request }) });

/** The client that rows of questions make. */
export type ClientOf<Rows> = {
  readonly [N in keyof Rows]: Rows[N] extends RouteRow<infer Args, infer Answer>
    ? (...args: Args) => Promise<Answer>
    : never;
};

/** Health and the end of a connection are no operations: they have no route of the API, and no permission is asked for them. */
export type Operations = Omit<ConveyorClient, 'readiness' | 'close'>;

/** A row for each operation, from which the guard, the audit and the way through a server follow. */
export type OperationRows = {
  readonly [N in keyof Operations]: ReadOrChange<Parameters<Operations[N]>, Awaited<ReturnType<Operations[N]>>>;
};

type ReadOrChange<Args extends readonly unknown[], Answer> = RouteRow<Args, Answer> &
  (ReadRow | ChangeRow<Args, Answer>);

/** Every caller who may look may ask. `look-now` changes nothing either: the next look at a run comes a little earlier. */
interface ReadRow {
  readonly access: 'read' | 'look-now';
  readonly permit?: undefined;
  readonly audit?: undefined;
}

interface ChangeRow<Args extends readonly unknown[], Answer> {
  /** Which operation of domain/access/operations.ts it is. */
  readonly access: Exclude<OperationName, 'read' | 'look-now'> | VerbGiven<Args>;
  /** Returns the arguments with the rule that allows them. @throws ConveyorError `not-permitted`, `unsigned` */
  permit(gate: PermissionGate, ...args: Args): Promise<Args>;
  /** Its record, whether it is done or refused. */
  audit(...args: Args): AuditRow<Answer>;
}

/** A method's type, so that `AnyRow` fits every row: TypeScript compares arguments of methods both ways. */
type VerbGiven<Args extends readonly unknown[]> = { verb(...args: Args): Verb }['verb'];

type EntryParts = Partial<Omit<AuditEntry, 'actor' | 'target'>>;

interface AuditRow<Answer> extends Pick<AuditEntry, 'actor' | 'target'>, EntryParts {
  /** The rest of the record, once it is done. */
  came(done: Answer): Partial<AuditEntry>;
}

/** A row for code that treats all rows alike. */
export type AnyRow = ReadOrChange<readonly unknown[], unknown>;
type AnyOperation = (...args: readonly unknown[]) => Promise<unknown>;

/** A client each of whose methods is made of its row. */
export const clientFromRows = <Client extends object, Row>(
  rows: Readonly<Record<keyof Client, Row>>,
  make: (row: Row, name: keyof Client) => AnyOperation,
): Client =>
  Object.fromEntries(Object.entries<Row>(rows).map(([name, row]) => [name, make(row, name as keyof Client)])) as Client;

/** Calls the operation of a client that a row is about. */
export function callOperation(client: Operations, name: keyof Operations, args: readonly unknown[]): Promise<unknown> {
  const operations = client as unknown as Readonly<Record<keyof Operations, AnyOperation>>;
  return operations[name](...args);
}
