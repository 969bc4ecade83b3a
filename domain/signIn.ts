/** An identity provider that a server takes for its users: where `conveyor login` sends somebody. */
export interface SignInOffer {
  readonly issuer: string;
  /** Of `conveyor login`, as the provider knows it. */
  readonly client: string;
  readonly scopes: readonly string[];
}
