import type { Icon, ICredentialType, INodeProperties } from "n8n-workflow";

/** The secret that signs what an endpoint receives. */
// eslint-disable-next-line n8n-nodes-base/cred-class-field-documentation-url-missing -- it is on your own server, at /manual/
export class ContactLookupWebhookApi implements ICredentialType {
  name = "contactLookupWebhookApi";

  displayName = "Contact Lookup Webhook API";

  icon: Icon = { light: "file:../icons/contact-lookup.svg", dark: "file:../icons/contact-lookup.dark.svg" };

  properties: INodeProperties[] = [
    {
      displayName: "Secret",
      name: "secret",
      type: "string",
      typeOptions: { password: true },
      default: "",
      placeholder: "whsec_…",
      description: "The secret of the endpoint, which the page /webhooks shows to admins",
      required: true,
    },
  ];
}
